"""Imports point downward only, and the API loads nothing heavy.

``MAY_IMPORT`` is the architecture: a layer's line names every layer its modules may import. What a line does not name
is above or beside it.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import scurry
from scurry.runtime.engines import SPARK

PACKAGE = Path(scurry.__file__).parent

MAY_IMPORT: dict[str, set[str]] = {
    "scurry": {"scurry._moved"},
    "scurry._moved": set(),
    "scurry._dataclasses": set(),
    "scurry.errors": set(),
    "scurry.pyflink_alias": {"scurry.errors", "scurry.common"},
    "scurry.metrics": {"scurry.errors"},
    "scurry.common": {"scurry.common._epoch", "scurry.common._java_numbers", "scurry.errors"},
    "scurry.common._java_regex": {"scurry.errors"},
    "scurry.common._epoch": set(),
    "scurry.common._java_numbers": set(),
    "scurry.common._types.json_text": set(),
    "scurry.graph": {"scurry.errors", "scurry.common"},
    "scurry.cep.patterns": {"scurry.errors", "scurry.common"},
    "scurry.cep": {
        "scurry.errors", "scurry.common", "scurry.graph", "scurry.cep.patterns", "scurry.datastream",
        "scurry.sql.statements",
    },
    "scurry.connectors": {
        "scurry.common._epoch", "scurry.common._java_numbers", "scurry.common._java_regex",
        "scurry.common._types.json_text", "scurry.errors", "scurry.common", "scurry.sql.types", "scurry.sql.values",
    },
    "scurry.runtime": {
        "scurry", "scurry.errors", "scurry.common", "scurry.graph", "scurry.connectors", "scurry.metrics",
        "scurry.cep.patterns",
    },
    "scurry.runtime.local": {"scurry.errors", "scurry.common", "scurry.graph", "scurry.connectors", "scurry.runtime"},
    "scurry.runtime.progress": {"scurry.common", "scurry.runtime"},
    "scurry.spark": {
        "scurry", "scurry.errors", "scurry.common", "scurry.graph", "scurry.connectors", "scurry.runtime",
        "scurry.metrics", "scurry.pyflink_alias", "scurry.sql.types", "scurry.sql.functions", "scurry.sql.plan",
        "scurry.sql.evaluation", "scurry.sql.connectors",
    },
    "scurry.sql": {"scurry.sql.client"},
    "scurry.sql.types": {"scurry.errors"},
    "scurry.sql.functions": {
        "scurry.common._epoch", "scurry.common._types.json_text",
        "scurry.errors", "scurry.sql.types", "scurry.common._java_numbers", "scurry.common._java_regex",
    },
    "scurry.sql.syntax": {"scurry.errors", "scurry.common"},
    "scurry.sql.plan": {"scurry.errors", "scurry.sql.types", "scurry.sql.functions"},
    "scurry.sql.values": {
        "scurry.common._epoch", "scurry.common._java_numbers", "scurry.errors", "scurry.common", "scurry.sql.types",
        "scurry.sql.functions",
    },
    "scurry.sql.evaluation": {
        "scurry.errors", "scurry.common", "scurry.cep.patterns", "scurry.sql.types", "scurry.sql.functions",
        "scurry.sql.plan", "scurry.sql.values", "scurry.connectors", "scurry.sql.models",
    },
    "scurry.sql.models": {
        "scurry.errors", "scurry.common", "scurry.connectors", "scurry.sql.types", "scurry.sql.functions",
        "scurry.sql.catalog", "scurry.sql.connectors",
    },
    "scurry.sql.planner": {
        "scurry.common._epoch",
        "scurry.errors", "scurry.common", "scurry.sql.types", "scurry.sql.functions", "scurry.sql.plan",
        "scurry.sql.evaluation",
    },
    "scurry.sql.validator": {
        "scurry.common._epoch",
        "scurry.errors", "scurry.common", "scurry.sql.syntax", "scurry.sql.types", "scurry.sql.functions",
        "scurry.sql.plan", "scurry.sql.planner", "scurry.sql.evaluation", "scurry.sql.catalog",
    },
    "scurry.sql.operators": {
        "scurry.errors", "scurry.common", "scurry.graph", "scurry.connectors", "scurry.cep.patterns", "scurry.runtime",
        "scurry.sql.types", "scurry.sql.functions", "scurry.sql.plan", "scurry.sql.planner", "scurry.sql.values",
        "scurry.sql.evaluation", "scurry.sql.connectors", "scurry.sql.models",
    },
    "scurry.sql.catalog": {"scurry.errors", "scurry.common", "scurry.sql.types"},
    "scurry.sql.formats": {
        "scurry.common._epoch",
        "scurry.common._java_numbers",
        "scurry.errors", "scurry.common", "scurry.connectors", "scurry.sql.types", "scurry.sql.values",
        "scurry.sql.catalog",
    },
    "scurry.sql.connectors": {
        "scurry.common._epoch",
        "scurry.common._java_numbers",
        "scurry.errors", "scurry.common", "scurry.common._java_regex", "scurry.connectors", "scurry.sql.types",
        "scurry.sql.functions", "scurry.sql.catalog", "scurry.sql.formats", "scurry.sql.values",
    },
    "scurry.sql.savepoints": {
        "scurry.errors", "scurry.common", "scurry.runtime", "scurry.sql.types", "scurry.sql.catalog",
        "scurry.sql.formats", "scurry.sql.connectors", "scurry.sql.values", "scurry.sql.functions",
    },
    "scurry.sql.statements": {
        "scurry.sql.values",
        "scurry.common._java_numbers",
        "scurry", "scurry.errors", "scurry.common", "scurry.graph", "scurry.connectors", "scurry.runtime",
        "scurry.rest", "scurry.sql.types", "scurry.sql.functions", "scurry.sql.syntax", "scurry.sql.plan",
        "scurry.sql.planner", "scurry.sql.validator", "scurry.sql.evaluation", "scurry.sql.operators",
        "scurry.sql.catalog", "scurry.sql.formats", "scurry.sql.connectors", "scurry.sql.models",
        "scurry.sql.savepoints",
    },
    "scurry.sql.gateway": {
        "scurry.common._java_numbers",
        "scurry", "scurry.errors", "scurry.common", "scurry.rest", "scurry.sql.types", "scurry.sql.functions",
        "scurry.sql.syntax", "scurry.sql.statements", "scurry.sql.values",
    },
    "scurry.sql.client": {
        "scurry.errors", "scurry.common", "scurry.rest", "scurry.sql.types", "scurry.sql.syntax",
        "scurry.sql.statements", "scurry.sql.gateway",
    },
    "scurry.sql.pipelines": {
        "scurry.errors", "scurry.common", "scurry.common._java_regex", "scurry.connectors", "scurry.datastream",
        "scurry.sql.types", "scurry.sql.catalog", "scurry.sql.connectors", "scurry.sql.formats",
        "scurry.sql.evaluation", "scurry.sql.functions", "scurry.sql.plan", "scurry.sql.planner", "scurry.sql.syntax",
        "scurry.sql.validator", "scurry.sql.statements",
    },
    "scurry.dbapi": {
        "scurry.common._java_numbers", "scurry.errors", "scurry.common", "scurry.sql.types", "scurry.sql.syntax",
        "scurry.sql.values", "scurry.sql.statements", "scurry.sql.gateway", "scurry.sql.client",
    },
    "scurry.dbapi.sqlalchemy": {"scurry.common", "scurry.dbapi", "scurry.sql.syntax", "scurry.sql.values"},
    "scurry.table": {
        "scurry.sql.values",
        "scurry.common._java_numbers",
        "scurry.errors", "scurry.common", "scurry.graph", "scurry.runtime.progress", "scurry.sql.types",
        "scurry.sql.catalog", "scurry.sql.syntax", "scurry.sql.plan", "scurry.sql.functions", "scurry.sql.statements",
        "scurry.sql.connectors", "scurry.sql.formats",
    },
    "scurry.dataframe": {
        "scurry.errors", "scurry.common", "scurry.graph", "scurry.datastream", "scurry.sql.types", "scurry.sql.values",
        "scurry.sql.functions", "scurry.sql.syntax", "scurry.sql.plan", "scurry.sql.catalog", "scurry.sql.statements",
        "scurry.table",
    },
    "scurry.rest": {
        "scurry", "scurry.errors", "scurry.common", "scurry.graph", "scurry.metrics", "scurry.runtime",
    },
    "scurry.rest.session": {"scurry", "scurry.errors", "scurry.common", "scurry.rest", "scurry.runtime"},
    "scurry.datastream": {
        "scurry.common._epoch", "scurry.sql.values",
        "scurry.errors", "scurry.common", "scurry.common._java_regex", "scurry.graph", "scurry.connectors",
        "scurry.runtime", "scurry.runtime.progress", "scurry.metrics", "scurry.rest", "scurry.sql.types",
    },
    "scurry.beam": {
        "scurry.errors", "scurry.common", "scurry.graph", "scurry.connectors", "scurry.runtime", "scurry.datastream",
    },
    "scurry.testing": {
        "scurry.sql.values",
        "scurry.errors", "scurry.common", "scurry.graph", "scurry.connectors", "scurry.runtime", "scurry.runtime.local",
        "scurry.datastream", "scurry.table",
    },
    "scurry.state": {
        "scurry", "scurry.errors", "scurry.common", "scurry.graph", "scurry.connectors", "scurry.runtime",
        "scurry.datastream",
    },
    "scurry.cli": {
        "scurry", "scurry.errors", "scurry.common", "scurry.connectors", "scurry.graph", "scurry.runtime",
        "scurry.rest", "scurry.rest.session", "scurry.pyflink_alias", "scurry.table", "scurry.sql.gateway",
        "scurry.sql.client", "scurry.sql.syntax",
    },
    "scurry.__main__": {"scurry.cli"},
}  # fmt: skip

SPARK_IMPORTED_LAZILY: dict[str, set[str]] = {
    # The seam between a plan and what executes it: loads the runner in this process, if the settings name that.
    "scurry.runtime.submit": {"scurry.runtime.local"},
    # The state processor works on DataFrames where it is given some, or a session to make one.
    "scurry.state.reader": {"scurry.spark"},
    "scurry.state.writer": {"scurry.spark"},
    # A broker for tests runs on the Java that Spark runs on.
    "scurry.testing.kafka": {"scurry.spark"},
    # `scurry setup` and `scurry doctor` look for what Spark needs.
    "scurry.cli.doctor": {"scurry.spark"},
}

#: In the place of a module of the standard library, so below everything.
EVERYWHERE = {"scurry._dataclasses"}

IMPORTING_FUNCTIONS = {"import_module", "__import__"}

COMPUTING_ON_COLUMNS = {"scurry.sql.functions", "scurry.sql.evaluation", "scurry.sql.operators", "scurry.spark"}

HEAVY = {"pyspark", "pandas", "pyarrow", "fastapi", "uvicorn", "psycopg", "fastavro", "deltalake", "pyiceberg"}


@dataclass(frozen=True)
class Import:
    where: str
    importer: str
    imported: str
    inside_function: bool


def module_name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str:
    known = [layer for layer in MAY_IMPORT if layer != "scurry" and f"{module}.".startswith(f"{layer}.")]
    return max(known, key=len, default="scurry" if module == "scurry" else f"undeclared layer {module}")


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def imported_names(node: ast.AST, file: Path) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.Call) and name_of(node.func) in IMPORTING_FUNCTIONS:
        return [str(name.value) for name in node.args[:1] if isinstance(name, ast.Constant)]
    if not isinstance(node, ast.ImportFrom):
        return []
    assert node.level == 0, f"{file}:{node.lineno}: imports inside scurry are absolute"
    module = node.module or ""
    if module.split(".")[0] != "scurry":
        return [module]
    # `from scurry.a import b` imports the module scurry.a.b where there is one.
    below = PACKAGE.parent.joinpath(*module.split("."))
    names = [alias.name for alias in node.names]
    return [
        f"{module}.{name}" if (below / f"{name}.py").exists() or (below / name).is_dir() else module for name in names
    ]


def imports_in(node: ast.AST, file: Path, inside_function: bool = False) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if is_for_types_only(child):
            continue
        for name in imported_names(child, file):
            where = f"{file.relative_to(PACKAGE.parent)}:{getattr(child, 'lineno', 0)}"
            yield Import(where, module_name(file), name, inside_function)
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from imports_in(child, file, inside_function or is_function)


@functools.cache
def all_imports() -> list[Import]:
    files = sorted(PACKAGE.rglob("*.py"))
    return [found for file in files for found in imports_in(ast.parse(file.read_text(encoding="utf-8")), file)]


def is_downward(found: Import) -> bool:
    source, target = layer_of(found.importer), layer_of(found.imported)
    allowed = MAY_IMPORT.get(source, set()) | {source} | EVERYWHERE
    if found.inside_function:
        allowed = allowed | SPARK_IMPORTED_LAZILY.get(found.importer, set())
    return target in allowed


def test_every_module_belongs_to_a_declared_layer() -> None:
    layers = {layer_of(module_name(file)) for file in PACKAGE.rglob("*.py")}
    assert not {layer for layer in layers if layer not in MAY_IMPORT}


def test_imports_point_downward() -> None:
    inside = [found for found in all_imports() if found.imported.split(".")[0] == "scurry"]
    assert [f"{found.where} imports {found.imported}" for found in inside if not is_downward(found)] == []


#: Flink's own shape: every kind of stream makes others, by imports inside their methods.
STREAMS = {
    f"scurry.datastream.data_stream.{name}" for name in ("cached", "connected", "joins", "keyed", "stream", "windowed")
}


def import_circles() -> list[set[str]]:
    """The largest sets of modules that all import each other, directly or through others."""
    imports: dict[str, set[str]] = defaultdict(set)
    for found in all_imports():
        imports[found.importer].add(found.imported)
    reached: dict[str, set[str]] = {}
    for module in imports:
        reached[module], ahead = set(), [module]
        while ahead:
            new = imports.get(ahead.pop(), set()) - reached[module]
            reached[module] |= new
            ahead += new
    circles = {frozenset(other for other in reached[each] if each in reached.get(other, ())) for each in imports}
    return [set(circle) for circle in circles if circle]


def test_modules_do_not_import_each_other_in_circles() -> None:
    assert [sorted(circle) for circle in import_circles() if not circle <= STREAMS] == []


#: Rooms at the top of the package: packages, and modules beside them.
MOST_ROOMS = 20


def rooms() -> set[str]:
    files = {file.stem for file in PACKAGE.glob("*.py") if not file.stem.startswith("_")}
    return files | {"__main__"} | {file.parent.name for file in PACKAGE.glob("*/__init__.py")}


def test_the_top_of_the_package_is_taken_in_at_a_glance() -> None:
    assert len(rooms()) <= MOST_ROOMS, sorted(rooms())


def test_layers_below_the_engine_on_spark_load_parts_of_it_by_name() -> None:
    modules = {module_name(file) for file in PACKAGE.rglob("*.py")}
    assert set(SPARK.values()) <= {each for each in modules if layer_of(each) == "scurry.spark"}


def test_every_exception_is_needed() -> None:
    lazy = [found for found in all_imports() if found.inside_function]
    used = {(found.importer, layer_of(found.imported)) for found in lazy}
    assert {(module, layer) for module, layers in SPARK_IMPORTED_LAZILY.items() for layer in layers} <= used


def test_only_the_spark_layer_imports_pyspark() -> None:
    users = [found for found in all_imports() if found.imported.split(".")[0] in {"pyspark", "py4j"}]
    assert [found.where for found in users if layer_of(found.importer) != "scurry.spark"] == []


def test_only_what_serves_requests_imports_the_web_framework() -> None:
    users = [found for found in all_imports() if found.imported.split(".")[0] in {"fastapi", "starlette", "uvicorn"}]
    serving = {"scurry.rest", "scurry.rest.session", "scurry.sql.gateway"}
    assert [found.where for found in users if layer_of(found.importer) not in serving] == []


def test_pandas_and_pyarrow_are_imported_inside_functions_where_no_columns_are_computed() -> None:
    users = [found for found in all_imports() if found.imported.split(".")[0] in {"pandas", "pyarrow"}]
    at_import = [found for found in users if not found.inside_function]
    assert [found.where for found in at_import if layer_of(found.importer) not in COMPUTING_ON_COLUMNS] == []


def test_the_architecture_page_shows_these_layers() -> None:
    page = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(scurry[\w.]*)` \|.*\| ([^|]*) \|$", page, re.MULTILINE)
    shown = {layer: set(names.split(", ")) - {"-"} for layer, names in rows}
    assert shown == {layer: {name.removeprefix("scurry.") for name in names} for layer, names in MAY_IMPORT.items()}


#: Packages that programs do not import.
INTERNAL = ("cli", "connectors", "graph", "patterns", "rest", "runtime", "spark", "sql")


def lists_its_own_names(file: Path) -> bool:
    text = file.read_text(encoding="utf-8")
    body = ast.parse(text).body if "__all__" in text else []
    imported = {alias.asname or alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
    lists = [node.value for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    return any(not imported.intersection(ast.literal_eval(each)) for each in lists)


def test_internal_modules_do_not_list_what_they_offer() -> None:
    """What is not underscored is offered; `__all__` is for faces of packages, and for modules that programs import."""
    files = [file for package in INTERNAL for file in (PACKAGE / package).rglob("*.py") if file.name != "__init__.py"]
    assert [str(file.relative_to(PACKAGE)) for file in files if lists_its_own_names(file)] == []


def test_no_lines_are_laid_out_by_hand() -> None:
    files = [file for file in PACKAGE.rglob("*.py") if re.search("# fmt: (skip|off)", file.read_text(encoding="utf-8"))]
    assert [str(file.relative_to(PACKAGE)) for file in files] == []


#: More siblings than this are not taken in at a glance: group them in packages.
MOST_MODULES = 20


def pyflink_modules() -> set[str]:
    """The modules of PyFlink, by the names they have here."""
    fixtures = Path(__file__).parent / "fixtures" / "api"
    lines = (fixtures / "signatures.txt").read_text(encoding="utf-8").splitlines()
    return {f"scurry.{line.split()[0]}" for line in lines}


def test_no_package_has_more_modules_side_by_side_than_are_taken_in_at_a_glance() -> None:
    given = pyflink_modules()
    own = [file for file in PACKAGE.rglob("*.py") if file.name != "__init__.py" and module_name(file) not in given]
    sizes = Counter(module_name(file).rpartition(".")[0] for file in own)
    assert {package: size for package, size in sizes.items() if size > MOST_MODULES} == {}


def test_test_modules_have_names_of_their_own() -> None:
    """Pytest imports them by these names alone, as workers do that unpickle their functions."""
    names = Counter(file.name for file in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


LIGHT_PACKAGES = sorted(
    module_name(file) for file in [*PACKAGE.glob("*.py"), *PACKAGE.glob("*/__init__.py")] if file.name != "__main__.py"
)


#: Imports one package after the other, and prints those that load something heavy.
IMPORT_ALL = f"""
import importlib, sys
for module in {LIGHT_PACKAGES!r}:
    before = set(sys.modules)
    importlib.import_module(module)
    if heavy := {HEAVY!r} & (set(sys.modules) - before):
        print(module, sorted(heavy))
"""


def test_importing_a_package_loads_nothing_heavy() -> None:
    command, environment = [sys.executable, "-c", IMPORT_ALL], {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_names_are_suggested_by_one_module() -> None:
    others = {"sql/syntax/places.py"}  # finds where a text is after secrets were removed from it
    importing = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^\s*(?:import|from) difflib\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert importing - others == {"errors/suggestions.py"}, "call scurry.errors.suggestions"
