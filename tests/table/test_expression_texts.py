"""`str()` of an expression is the text of PyFlink 2.3.0, which messages and programs show.

`fixtures/table_api/expression_texts.json` has the texts that PyFlink gave.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from scurry.table import DataTypes
from scurry.table.expressions import col

TEXTS = json.loads((Path(__file__).parent.parent / "fixtures" / "table_api" / "expression_texts.json").read_text())
NAMES = {
    **vars(importlib.import_module("scurry.table.expression")),
    **vars(importlib.import_module("scurry.table.expressions")),
    **{name: col(name) for name in "pqr"},
    "DataTypes": DataTypes,
}


@pytest.mark.parametrize("code", TEXTS)
def test_an_expression_has_the_text_that_pyflink_gives_it(code: str) -> None:
    assert str(eval(code, dict(NAMES))) == TEXTS[code]
