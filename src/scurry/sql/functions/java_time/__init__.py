"""Patterns of dates and times as Java has them: `DateTimeFormatter` and `SimpleDateFormat`, in English.

`Moment` is a wall clock; `format_moment` and `parse_moment` follow DateTimeFormatter, `parse_leniently` follows
SimpleDateFormat, which reads the beginning of a text and lets parts run over (February 30th is March 1st).
"""

from __future__ import annotations

from scurry.sql.functions.java_time.calendar import Moment, days_from_civil
from scurry.sql.functions.java_time.formatting import format_moment
from scurry.sql.functions.java_time.lenient import parse_jdbc, parse_leniently
from scurry.sql.functions.java_time.parsing import parse_moment
from scurry.sql.functions.java_time.patterns import tokens

__all__ = ["Moment", "days_from_civil", "format_moment", "parse_jdbc", "parse_leniently", "parse_moment", "tokens"]
