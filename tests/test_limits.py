"""Every queue, cache, pool, retry and size is in the table of docs/limits.md, with the value that it has in the code.

The sources are searched for what can grow or repeat: queues, caches of calls, pools of threads, registries of modules,
files that are appended to, loops that go on after an error, and constants that are named as sizes. Each has a row.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import scurry
from scurry.common._config import tables
from scurry.common._config.validation import known_options

PACKAGE = Path(scurry.__file__).parent
PAGE = PACKAGE.parents[1] / "docs" / "limits.md"

#: Constructors of what can grow.
GROWING = {
    "Queue", "SimpleQueue", "LifoQueue", "PriorityQueue", "deque", "ThreadPoolExecutor", "ProcessPoolExecutor", "pool",
    "LRUCache", "TTLCache", "LFUCache", "FileHandler", "RotatingFileHandler", "Semaphore", "BoundedSemaphore",
}  # fmt: skip
#: Decorators that keep the results of calls.
CACHES = {"cache", "lru_cache", "cached", "alru_cache"}
#: Empty collections of a module grow with what uses it.
COLLECTIONS = {"dict", "list", "set", "defaultdict", "OrderedDict", "WeakKeyDictionary", "WeakValueDictionary"}
#: Words in the names of constants that are sizes.
SIZES = {
    "ATTEMPTS", "BACKLOG", "BATCH", "BLOCK", "BLOCKS", "BUCKET", "BUFFER", "BYTES", "CAPACITY", "CHARACTERS", "CHUNK",
    "DEEPEST", "DEPTH", "EARLIER", "ELEMENTS", "FANOUT", "FILES", "GROWTH", "HELD", "KEPT", "KEYS", "LARGEST", "LIMIT",
    "LINES", "LINKS", "MAPPED", "MAX", "MOST", "ONCE", "OUTPUT", "PAGE", "PAGES", "PARCEL", "PAUSES", "PIECE", "PIECES",
    "POINTS", "READERS", "REASON", "RECORDS", "REMEMBERED", "RESIDENT", "RETAINED", "RETRIES", "ROWS", "SAMPLES",
    "SHOWN", "STARTS", "STEPS", "THREADS", "TRIES", "WAITING",
}  # fmt: skip
#: Constants with such names that limit nothing: lengths in formats, ranges of types, ways of work, and output.
NO_LIMITS = {
    "MAX_TIME", "MAX_TIMESTAMP", "MAX_LENGTH", "MAX_PRECISION", "_MAX_PRECISION", "_MAX_OFFSET", "_MAX", "_LARGEST",
    "_LARGEST_INTEGER", "_LARGEST_OF_TIME", "_LARGEST_OF_TIMESTAMP", "_LARGEST_OF_DECIMAL", "_CRC_BYTES", "_SYNC_BYTES",
    "_DIGEST_BYTES", "_MOST_DIGITS", "_LINES_OF_JAVA", "_PAGE_SECONDS", "_PIECE_SECONDS", "DEFAULT_MAX_STATE_SIZE",
    "MAX_FILE_STATE_THRESHOLD",
}  # fmt: skip
NO_LIMITS_IN = {
    "runtime/local/batch_rows.py": {"_ROW_BYTES"},  # an estimate
    "runtime/state/backend.py": {"_LEAST_KEYS"},
    "runtime/state/expiry.py": {"_STEPS"},
    "sql/functions/time_zones.py": {"_BLOCK"},
    "sql/types/cast_rules.py": {"_BYTES"},
    "sql/evaluation/batch/executor.py": {"_ROWS_OF_COLUMNS"},
    "sql/operators/partitioning.py": {"_ROWS_PER_KEY"},
    "spark/workers/map_store.py": {"_LARGE_BYTES"},
}
#: Loops that go on after an error, but with what follows: each round takes some of an input that ends.
NO_RETRIES = {
    "connectors/files/formats/csv/format.py: CsvFormat._parsed",
    "connectors/messages.py: _one_by_one",
    "sql/formats/csv/codec.py: CsvReader._records",
    "sql/client/terminal.py: interact",
}
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class Found(NamedTuple):
    """Something that needs a limit.

    Attributes:
        where: The file and the name of the constant, or of the class, function or attribute.
        value: Its limit, None if that is no constant.
    """

    where: str
    value: Any


class Row(NamedTuple):
    """A row of the table."""

    value: str
    setting: str
    outcome: str


def rows() -> dict[str, Row]:
    """Return the rows of the page by the places that they name; one row may name several."""
    found: dict[str, Row] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 5 and "`" in cells[4]:
            for place in re.findall(r"`([^`]+)`", cells[4]):
                assert place not in found, f"two rows name {place}"
                found[place] = Row(*cells[1:4])
    return found


def number(text: str) -> Any:
    """Return the value of a cell, such as 64 MiB, 4,096 or 0.2, 1, 3; None for words."""
    parts = [
        re.fullmatch(r"([\d,]*\d(?:\.\d+)?)(?: (KiB|MiB|GiB))?", part) for part in re.split(r", (?!\d{3}\b)", text)
    ]
    values = tuple(float(part[1].replace(",", "")) * _UNITS[part[2] or ""] for part in parts if part)
    return None if len(values) < len(parts) else values if len(values) > 1 else values[0]


class _Search(ast.NodeVisitor):
    """Find what needs a limit in a module."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path, self.found = path, list[Found]()
        self._scope: list[str] = []
        self._target: str | None = None
        self.visit(tree)

    def _add(self, name: str, value: Any = None) -> None:
        self.found.append(Found(f"{self.path}: {name}", value))

    def _name(self) -> str:
        if self._target is None:
            return ".".join(self._scope)
        return ".".join([*(each for each in self._scope if each != "__init__"), self._target.removeprefix("self.")])

    def _definition(self, node: Any) -> None:
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
            return
        self._scope.append(node.name)
        takes_arguments = isinstance(node, ast.FunctionDef) and ast.unparse(node.args) != ""
        for each in node.decorator_list:
            call = each if isinstance(each, ast.Call) else None
            if _last(call.func if call else each) in CACHES and takes_arguments:
                self._add(self._name(), _first(call, "maxsize") if call else None)
        held, self._target = self._target, None
        self.generic_visit(node)
        self._target = held
        self._scope.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _definition

    def _assignment(self, node: Any) -> None:
        target = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        if node.value is not None:
            self._constant(target, node.value)
            held, self._target = self._target, target if re.fullmatch(r"(self\.)?\w+", target) else None
            self.visit(node.value)
            self._target = held

    visit_Assign = visit_AnnAssign = _assignment

    def _constant(self, target: str, value: ast.expr) -> None:
        is_empty = isinstance(value, ast.Dict | ast.List) and not ast.unparse(value)[1:-1]
        is_made = isinstance(value, ast.Call) and _last(value.func) in COLLECTIONS and not value.args
        if not self._scope and (is_empty or is_made) and target != "__all__":
            self._add(target)
        words = set(target.split("_"))
        if not re.fullmatch(r"_?[A-Z][A-Z0-9_]*", target) or not words & SIZES:
            return
        if target in NO_LIMITS or target in NO_LIMITS_IN.get(self.path, ()):
            return
        constant = _value(value)
        if isinstance(constant, int | float) or (
            isinstance(constant, tuple) and {*map(type, constant)} <= {int, float}
        ):
            if constant != () and not isinstance(constant, bool):
                self._add(".".join([*self._scope, target]), constant)

    def visit_Call(self, node: ast.Call) -> None:
        if (kind := _last(node.func)) in GROWING:
            keyword = {"deque": "maxlen", "Semaphore": "value"}.get(kind, "max_workers")
            limit = next((each.value for each in node.keywords if each.arg in (keyword, "maxBytes", "maxsize")), None)
            if limit is None and kind not in ("deque", "FileHandler") and node.args:
                limit = node.args[0]
            has_row = isinstance(limit, ast.Name) and limit.id.isupper()  # as a constant
            is_passing = kind == "deque" and bool(self._scope) and "self." not in (self._target or "")
            if not has_row and not is_passing and _value(limit) != 0:
                self._add(self._name() if self._target else ".".join([*self._scope, kind]), _value(limit))
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        handlers = [each for each in ast.walk(node) if isinstance(each, ast.ExceptHandler)]
        if any(not isinstance(each.body[-1], ast.Raise | ast.Return | ast.Break) for each in handlers):
            name = ".".join(self._scope)
            if f"{self.path}: {name}" not in NO_RETRIES:
                self._add(name)
        self.generic_visit(node)


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _first(call: ast.Call, keyword: str) -> Any:
    """Return the value of a keyword or the first argument of a call."""
    return _value(
        next((each.value for each in call.keywords if each.arg == keyword), call.args[0] if call.args else None)
    )


def _value(node: ast.expr | None) -> Any:
    """Return the value of an expression of numbers, None for another one."""
    try:
        return None if node is None else eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})
    except Exception:
        return None


def sources() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        yield file.relative_to(PACKAGE).as_posix(), ast.parse(file.read_text(encoding="utf-8"))


FOUND = list(dict.fromkeys(each for path, tree in sources() for each in _Search(path, tree).found))
ROWS = rows()


def found_in(text: str) -> list[Found]:
    return _Search("m.py", ast.parse(text)).found


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("class A:\n def __init__(self):\n  self.waiting: deque[int] = deque()", "A.waiting", None),
        ("def f():\n pool = ThreadPoolExecutor(8)", "f.pool", 8),
        ("@lru_cache(maxsize=1 << 4)\ndef f(x): ...", "f", 16),
        ("@functools.cache\ndef f(x): ...", "f", None),
        ("MOST_ROWS = 4 * 1024", "MOST_ROWS", 4096),
        ("_known: dict[str, int] = {}", "_known", None),
        ("def f():\n while True:\n  try:\n   return g()\n  except OSError:\n   sleep(1)", "f", None),
    ],
)
def test_the_search_finds_what_grows_or_repeats(text: str, name: str, value: Any) -> None:
    assert found_in(text) == [Found(f"m.py: {name}", value)]


@pytest.mark.parametrize(
    "text",
    ["@cache\ndef f(): ...", "def f():\n while True:\n  try:\n   g()\n  except OSError:\n   raise", "MAX_TIME = 2**63"],
)
def test_the_search_passes_over_what_is_bounded(text: str) -> None:
    assert found_in(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [("64 MiB", 64 << 20), ("4,096", 4096), ("0.2, 1, 3", (0.2, 1, 3)), ("one per file", None), ("1,000,000", 10**6)],
)
def test_cells_are_numbers_with_units(text: str, value: Any) -> None:
    assert number(text) == value


def test_everything_that_grows_or_repeats_has_a_row() -> None:
    missing = [f"{each.where} = {each.value}" for each in FOUND if each.where not in ROWS]
    assert not missing, "docs/limits.md lacks\n" + "\n".join(missing)


def test_no_row_is_left_of_what_is_gone() -> None:
    known = {each.where for each in FOUND} | {option.key for option in known_options()}
    assert [place for place in ROWS if place not in known] == []


def test_rows_have_the_values_of_the_code() -> None:
    defaults = {option.key: option.default for option in known_options()}
    values = {each.where: each.value for each in FOUND} | {key: defaults[key] for key in ROWS if key in defaults}
    wrong = [
        f"{place}: {row.value}, but {values[place]} in the code"
        for place, row in ROWS.items()
        if isinstance(values[place], int | float | tuple) and number(row.value) != values[place]
    ]
    assert not wrong, "\n".join(wrong)


def test_every_row_has_a_value_and_an_outcome() -> None:
    assert [place for place, row in ROWS.items() if not row.value or not row.outcome] == []


def test_settings_of_the_table_exist() -> None:
    keys = {option.key for option in known_options()} | {
        each.key for each in vars(tables).values() if hasattr(each, "key")
    }
    named = {key for row in ROWS.values() for key in re.findall(r"`([a-z]+\.[a-z.-]+)`", row.setting)}
    assert named - keys == set()
