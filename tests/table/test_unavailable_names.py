"""Names of `pyflink.table` that cannot be imported."""

from __future__ import annotations

import pytest

from scurry.errors import UnsupportedError


def test_an_import_says_what_to_use_instead() -> None:
    with pytest.raises(UnsupportedError, match="use DataTypes.ROW"):
        exec("from scurry.table import UserDefinedType")


def test_a_name_that_pyflink_does_not_have_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Nonsense'"):
        exec("from scurry.table import Nonsense")
