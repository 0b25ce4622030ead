"""Modules by the names that savepoints, checkpoints and compiled plans of earlier releases have for them."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
from pathlib import Path

import pytest

from scurry._moved import MOVED, present_name

#: All modules that have moved when SQL got a package of its own, by the names that they had.
FORMER = (Path(__file__).parents[1] / "fixtures" / "former_modules.txt").read_text(encoding="utf-8").split()


def unpickled(module: str, name: str) -> object:
    """What a pickle loads that refers to a name in a module."""
    return pickle.loads(f"c{module}\n{name}\n.".encode())


@pytest.mark.parametrize("module", sorted({*FORMER, *MOVED}))
def test_pickles_find_a_module_by_its_former_name(module: str) -> None:
    present = present_name(module)
    assert present != module, "enter it in scurry/_moved.py"
    file = importlib.import_module(present).__file__
    assert unpickled(module, "__file__") == file, "enter in scurry/_moved.py where its classes are now"


def test_a_class_is_the_same_by_both_names_of_its_module() -> None:
    assert unpickled("scurry.relational.plan.tables", "Scan") is unpickled("scurry.sql.plan.nodes.tables", "Scan")


def test_a_former_name_leaves_a_package_what_it_hands_on() -> None:
    rules = importlib.import_module("scurry.sql.planner.rules")
    importlib.import_module("scurry.relational.rules.pattern_matches")
    assert callable(rules.pattern_matches)


def test_no_former_name_is_that_of_a_module_of_today() -> None:
    assert [former for former in MOVED if Path(*former.split(".")) in MODULES] == []


def test_a_name_that_never_was_is_not_found() -> None:
    assert importlib.util.find_spec("scurry.nowhere") is None
    with pytest.raises(ModuleNotFoundError, match=r"scurry\.sql\.functions\.nowhere"):
        importlib.import_module("scurry.functions.nowhere")


PACKAGE = Path(str(importlib.import_module("scurry").__file__)).parent
MODULES = {file.relative_to(PACKAGE.parent).with_suffix("") for file in PACKAGE.rglob("*.py")}
