"""Names of `pyflink.table` that cannot be imported."""

from __future__ import annotations

import pytest

from scurry.errors import UnsupportedError


@pytest.mark.parametrize(
    ("module", "name", "instead"),
    [
        ("table", "UserDefinedType", "use DataTypes.ROW"),
        ("table.types", "UserDefinedType", "use DataTypes.ROW"),
        ("table.types", "ZonedTimestampType", "use DataTypes.TIMESTAMP_LTZ"),
    ],
)
def test_an_import_says_what_to_use_instead(module: str, name: str, instead: str) -> None:
    with pytest.raises(UnsupportedError, match=instead):
        exec(f"from scurry.{module} import {name}")


def test_a_name_that_pyflink_does_not_have_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Nonsense'"):
        exec("from scurry.table import Nonsense")
