"""What all tests share."""

from __future__ import annotations

import functools
import itertools
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import engine

from support import TESTS
from support.cases import DAYS, cases, has_turn
from support.modules import load_module

# A busy machine is no bug: how long an example takes decides nothing.
settings.register_profile(
    "scurry", max_examples=cases(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("scurry")
# What failed is found again by its seed; shrinking it for five minutes would keep all other failures waiting.
engine.MAX_SHRINKING_SECONDS = 30

# What a shell starts in the background is told to ignore interrupts, and tells its children so; some tests send them.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def test_modules_are_importable_in_workers() -> Iterator[None]:
    """Functions and classes of a module travel by name, and Spark's Python workers find modules by PYTHONPATH."""
    before = os.environ.get("PYTHONPATH")
    directories = [str(TESTS), *sorted({str(module.parent) for module in TESTS.rglob("test_*.py")})]
    os.environ["PYTHONPATH"] = os.pathsep.join([*([before] if before else []), *directories])
    yield
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="session", autouse=True)
def jobs_are_registered_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Several suites run at once: a test that lists jobs would find those of the others in the cache directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
        yield


def _has_jvm() -> bool:
    context = sys.modules.get("pyspark.core.context")
    return context is not None and context.SparkContext._gateway is not None


#: Marks of tests that may start a JVM.
WITH_JVM = {"spark", "nightly", "conformance", "faults", "chaos", "soak", "bench", "kafka"}


#: Marks of tests that run only when they are asked for.
ASKED_FOR = WITH_JVM | {"slow", "postgres", "servers"}


@functools.cache
def _marks_named_in(module: Path) -> frozenset[str]:
    """Return the marks in the text of a test module, or of the `conftest.py` beside it."""
    files = [module, *(each for each in (module.with_name("conftest.py"),) if each.exists() and each != Path(__file__))]
    return frozenset(re.findall(r"\bmark\.(\w+)", "".join(each.read_text(encoding="utf-8") for each in files)))


def _may_be_selected(expression: str, named: frozenset[str]) -> bool:
    """Return whether an expression of `-m` is true for some of the marks that a module names."""
    words = sorted(set(re.findall(r"\w+", expression)) - {"and", "or", "not"})
    subsets = itertools.product(*([False, True] if word in named else [False] for word in words))
    try:
        return any(eval(expression, {}, dict(zip(words, each, strict=True))) for each in subsets)
    except (SyntaxError, TypeError):
        return True  # pytest understands it, or says why it does not


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import only modules that name the marks which are asked for: all of them take half a minute."""
    is_module = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    expression = config.option.markexpr
    skipped = is_module and expression and not _may_be_selected(expression, _marks_named_in(collection_path))
    return True if skipped else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse marks that `pytest_ignore_collect` does not find, as CI would never run these tests; skip who has no turn.

    A test that is marked `in_turn` costs most of a minute and shows nearly what others show.
    """
    numbers: Counter[Path] = Counter()
    for item in items:
        if unnamed := ASKED_FOR.intersection(mark.name for mark in item.iter_markers()) - _marks_named_in(item.path):
            raise pytest.UsageError(f"{item.nodeid}: write pytest.mark.{unnamed.pop()} in the module or its conftest")
        if item.get_closest_marker("in_turn"):
            if not has_turn(item.path.stem, numbers[item.path]):
                item.add_marker(pytest.mark.skip(reason=f"it has its turn on one of {DAYS} days, and each night"))
            numbers[item.path] += 1


@pytest.fixture(autouse=True)
def no_jvm_without_a_mark(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that starts Spark by mistake would cost everybody seconds."""
    before = _has_jvm()
    yield
    if not before and WITH_JVM.isdisjoint(mark.name for mark in request.node.iter_markers()):
        assert not _has_jvm(), "this test has started Spark: mark it, or set scurry.runner to local"


@pytest.fixture(autouse=True)
def connectors_are_registered_for_one_test() -> Iterator[None]:
    """Programs and pages that run in tests register connectors, which the messages of other tests would list."""
    yield
    factories = sys.modules.get("scurry.sql.connectors.factories")
    if factories is not None:
        factories._registered.clear()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL of the tests' own, for those marked `postgres`; running whenever a test begins."""
    script = load_module(TESTS.parent / "tools" / "postgres.py", "scurry_postgres_server")
    try:
        server = script.Server()
    except script.NoPostgresError as error:
        pytest.skip(str(error))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[Any]:
    """A MariaDB of the tests' own, for those marked `servers`; running whenever a test begins."""
    from support.servers.mariadb import MariaDbServer

    with MariaDbServer() as server:
        yield server
