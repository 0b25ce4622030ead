"""Classes of catalogs that there are not: the errors say what to do instead."""

from __future__ import annotations

import pytest

from scurry.errors import UnsupportedError
from scurry.table.catalog import Procedure


@pytest.mark.parametrize("name", [Procedure])
def test_classes_of_catalogs_that_there_are_not_say_what_to_do(name: type) -> None:
    with pytest.raises(UnsupportedError, match="function of Python"):
        name()
