"""The syntax tree of a statement, with the position of each part in the text.

The tree has what Calcite's has: no parentheses, ``CASE WHEN x =`` for ``CASE x WHEN``, both BOTH and a blank in a TRIM.
It knows no types and resolves no names.
"""

from __future__ import annotations

from scurry.sql.syntax.nodes.alter import *
from scurry.sql.syntax.nodes.base import *
from scurry.sql.syntax.nodes.columns import *
from scurry.sql.syntax.nodes.ddl import *
from scurry.sql.syntax.nodes.expressions import *
from scurry.sql.syntax.nodes.functions import *
from scurry.sql.syntax.nodes.json import *
from scurry.sql.syntax.nodes.literals import *
from scurry.sql.syntax.nodes.patterns import *
from scurry.sql.syntax.nodes.queries import *
from scurry.sql.syntax.nodes.show import *
from scurry.sql.syntax.nodes.statements import *
from scurry.sql.syntax.nodes.types import *
from scurry.sql.syntax.nodes.windows import *
