"""The queries of the tests of Flink's planner, with the plans that Flink makes of them.

They are in `flink-table-planner_2.12-2.3.0-tests.jar` of Maven Central: queries and plans as XML, the tables as texts
and calls within classes, which `javap` of a JDK shows.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

__all__ = ["JAR", "Case", "Node", "cases", "parsed", "tables_of"]

_NAME = "flink-table-planner_2.12-2.3.0-tests.jar"
JAR = Path(
    os.environ.get("SCURRY_FLINK_PLANNER_TESTS")
    or Path.home() / ".m2/repository/org/apache/flink/flink-table-planner_2.12/2.3.0" / _NAME
)
_ROOT = "org/apache/flink/table/planner/plan/stream/sql/"
_SECTIONS = {"optimized rel plan": "Optimized Physical Plan", "optimized exec plan": "Optimized Execution Plan"}
_SQL_TYPES = {
    "Integer.TYPE": "INT", "Long.TYPE": "BIGINT", "Double.TYPE": "DOUBLE", "Float.TYPE": "FLOAT",
    "Boolean.TYPE": "BOOLEAN", "Short.TYPE": "SMALLINT", "Byte.TYPE": "TINYINT",
    "String": "STRING", "Timestamp": "TIMESTAMP(3)", "Date": "DATE", "Time": "TIME",
    "LocalDateTime": "TIMESTAMP(3)", "BigDecimal": "DECIMAL(38, 18)", "Instant": "TIMESTAMP_LTZ(3)",
    "Integer": "INT", "Long": "BIGINT", "Double": "DOUBLE",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A query.

    Attributes:
        suite: The class of the test, as `join/JoinTest`.
        name: The test.
        sql: The query.
        plan: The plan.
        section: The section of EXPLAIN that has it.
    """

    suite: str
    name: str
    sql: str
    plan: str
    section: str


@dataclass(frozen=True)
class Node:
    """An operator of a plan.

    Attributes:
        name: Its name.
        text: All that the plan shows of it.
        inputs: What it reads.
    """

    name: str
    text: str
    inputs: tuple[Node, ...]

    @property
    def mode(self) -> str | None:
        """Its changes, if the plan shows them."""
        found = re.search(r"changelogMode=\[([A-Z,]*)\]", self.text)
        return found[1] if found else None

    def walk(self) -> Iterator[Node]:
        """Return the operator and all below it."""
        yield self
        for each in self.inputs:
            yield from each.walk()


def cases() -> Iterator[Case]:
    """Return all queries in STREAMING that have one plan."""
    with zipfile.ZipFile(JAR) as jar:
        for path in sorted(jar.namelist()):
            if not (path.startswith(_ROOT) and path.endswith(".xml")):
                continue
            suite = path.removeprefix(_ROOT).removesuffix(".xml")
            for test in ElementTree.fromstring(jar.read(path)):
                parts = {part.get("name"): part.text or "" for part in test}
                found = next(((parts[each].strip(), _SECTIONS[each]) for each in _SECTIONS if parts.get(each)), None)
                if "sql" in parts and found is not None:
                    yield Case(suite, str(test.get("name")), parts["sql"].strip(), *found)


def parsed(plan: str) -> list[Node]:
    """Return the trees of a plan's text."""
    lines: list[tuple[int, str]] = []
    for line in plan.splitlines():
        found = re.match(r"([ :|+-]*)(.*)", line)
        if found is not None and found[2]:
            lines.append((len(found[1]), found[2]))
    return _nodes(lines, 0)


def _nodes(lines: list[tuple[int, str]], depth: int) -> list[Node]:
    if not lines:
        return []
    starts = [place for place, (indent, _) in enumerate(lines) if indent == depth]
    found = []
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        text = lines[start][1]
        below = lines[start + 1 : stop]
        inputs = _nodes(below, below[0][0]) if below else []
        found.append(Node(text.partition("(")[0], text, tuple(inputs)))
    return found


@cache
def tables_of(suite: str) -> tuple[str, ...]:
    """Return the statements that create what the queries of a suite read and write."""
    directory = JAR.parent / "scurry-classes"
    if not directory.exists():
        with zipfile.ZipFile(JAR) as jar:
            members = [each for each in jar.namelist() if each.startswith(_ROOT) and each.endswith(".class")]
            jar.extractall(directory, members)
    base = directory / _ROOT / suite
    text = _shown(base.with_name(f"{base.name}.class"), "-v")
    texts = [_unescaped(each) for each in re.findall(r"= String +#\d+ +// (.*)", text)]
    ddl = [each for each in texts if re.match(r"\s*create\s+(temporary\s+)?(table|view)\b", each, re.IGNORECASE)]
    return (*_added_tables(text, base), *ddl)


def _added_tables(text: str, base: Path) -> list[str]:
    """Return the tables that Scala code adds by names of columns and the type of a tuple."""
    bootstraps = re.split(r"\n  (\d+): #\d+ REF_invokeStatic", text.partition("BootstrapMethods:")[2])
    by_number = {
        int(number): symbol[1]
        for number, body in zip(bootstraps[1::2], bootstraps[2::2], strict=True)
        if "SymbolLiteral" in body and (symbol := re.search(r"arguments:\s+#\d+ (\w+)", body))
    }
    found: list[str] = []
    strings: list[str] = []
    fields: list[str] = []
    kinds: list[str] = []
    types: list[str] = []
    for line in text.partition("BootstrapMethods:")[0].splitlines():
        if (match := re.search(r"ldc(?:_w)? .*// String (\w+)$", line)) is not None:
            strings, fields, kinds, types = [match[1]], [], [], []
        elif (match := re.search(r"invokedynamic .*InvokeDynamic #(\d+):apply:\(\)Lscala/Symbol", line)) is not None:
            fields.append(by_number.get(int(match[1]), "?"))
            kinds.append("")
        elif re.search(r"UnresolvedFieldExpression\.(rowtime|proctime):", line) and kinds:
            kinds[-1] = "rowtime" if ".rowtime:" in line else "proctime"
        elif (match := re.search(r"// class \S*/(\w+\$\$anon\$\d+)$", line)) is not None and strings:
            types = _tuple_types(base.parent / f"{match[1]}.class")
        elif (match := re.search(r"BasicTypeInfo\.(\w+)_TYPE_INFO", line)) is not None and strings:
            types.append(
                {"INT": "INT", "LONG": "BIGINT", "STRING": "STRING", "DOUBLE": "DOUBLE"}.get(match[1], "STRING")
            )
        elif re.search(r"\.(addTableSource|addDataStream|addTable)[:\"]", line) and strings and fields:
            found.append(_table(strings[0], fields, kinds, types))
            strings = []
    return list(dict.fromkeys(found))


def _shown(path: Path, how: str) -> str:
    """Return what javap shows of a class, which is kept beside it: each takes a JVM."""
    kept = path.with_name(f"{path.name}{how}.txt")
    if not kept.exists():
        javap = shutil.which("javap")
        assert javap is not None, "javap of a JDK shows the tables"
        found = subprocess.run([javap, how, "-p", str(path)], capture_output=True, text=True, check=False)
        kept.write_text(found.stdout, encoding="utf-8")
    return kept.read_text(encoding="utf-8")


@cache
def _tuple_types(path: Path) -> list[str]:
    text = _shown(path, "-c")
    found = []
    for match in re.finditer(
        r"Field java/lang/(\w+)\.TYPE:|ldc(?:_w)? .*// class java/(?:lang|sql|time|math)/(\w+)\n", text
    ):
        kind = f"{match[1]}.TYPE" if match[1] else match[2]
        kind = {"Integer.TYPE": "Integer.TYPE"}.get(kind, kind)
        if kind in _SQL_TYPES:
            found.append(_SQL_TYPES[kind])
    return found


def _table(name: str, fields: list[str], kinds: list[str], types: list[str]) -> str:
    given = iter(types)
    columns, watermark = [], ""
    for field, kind in zip(fields, kinds, strict=True):
        if kind == "proctime":
            columns.append(f"`{field}` AS PROCTIME()")
        elif kind == "rowtime":
            columns.append(f"`{field}` TIMESTAMP(3)")
            watermark = f", WATERMARK FOR `{field}` AS `{field}`"
        else:
            columns.append(f"`{field}` {next(given, 'STRING')}")
    return f"CREATE TABLE {name} ({', '.join(columns)}{watermark}) WITH ('connector' = 'values')"


def _unescaped(text: str) -> str:
    replaced = re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1]), text)
    return re.sub(r"^\s*\|", "", replaced, flags=re.MULTILINE)
