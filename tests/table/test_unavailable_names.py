"""Names of the Table API that are not there yet say so when they are imported."""

from __future__ import annotations

import pytest

from scurry.errors import UnsupportedError


@pytest.mark.parametrize(
    "statement",
    [
        "from scurry.table import UserDefinedType",
    ],
)
def test_an_import_says_what_to_use_instead(statement: str) -> None:
    with pytest.raises(UnsupportedError, match="write queries in SQL"):
        exec(statement)


def test_a_name_that_pyflink_does_not_have_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Nonsense'"):
        exec("from scurry.table import Nonsense")
