"""Tables over the sources, sinks and lookups of streams; docs/how-to/connector.md has a whole connector."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from scurry.common.types import Row
from scurry.connectors.sink import BufferedWriter, Sink, SinkWriter, WriterContext
from scurry.connectors.source import Source
from scurry.connectors.splits import SplitSource
from scurry.errors import ArgumentError, ScurryError, ValidationError
from scurry.sql.connectors import factories
from scurry.sql.statements.listing.options import option_keys, option_values
from scurry.table import EnvironmentSettings, TableEnvironment
from scurry.table.connectors import (
    FormatColumn,
    Options,
    RecordFactory,
    TableOption,
    register_connector,
    whole_number,
)

#: What the connector `shelf` reads, and what it is given: name -> rows.
SHELVES: dict[str, list[Any]] = {}
#: The keys that were looked up.
ASKED: list[Any] = []
NAME = TableOption("name", str, None, "The shelf.", required=True)
SPLITS = TableOption("splits", whole_number, 1, "Number of splits.")


class Shelf(SplitSource):
    """The rows of a shelf, dealt to splits."""

    def __init__(self, name: str, count: int) -> None:
        self.rows, self.count = SHELVES[name], count

    def splits(self) -> list[str]:
        return [str(number) for number in range(self.count)]

    def advance(self, split: str, position: int, limit: int) -> int:
        return min(position + limit, len(self.rows[int(split) :: self.count]))

    def read_split(self, split: str, start: int, end: int) -> list[Any]:
        return list(self.rows[int(split) :: self.count][start:end])


class ShelfSink(Sink):
    """Put rows on a shelf."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _Putting(self.name)


class _Putting(BufferedWriter):
    def __init__(self, name: str) -> None:
        super().__init__(0, 0)
        self._shelf = SHELVES.setdefault(name, [])

    def flush(self, records: list[Any]) -> None:
        self._shelf += records


class ShelfFinder:
    """Rows of a shelf by key."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = rows

    def find(self, key: Mapping[str, Any]) -> Iterator[Any]:
        ASKED.append(dict(key))
        return (row for row in self.rows if key.items() <= row.items())


class ShelfFactory(RecordFactory):
    identifier = "shelf"

    def table_options(self) -> Sequence[TableOption[Any]]:
        return [NAME, SPLITS]

    def source(self, options: Options, columns: Sequence[FormatColumn]) -> Source | None:
        return Shelf(options.get(NAME), options.get(SPLITS))

    def sink(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> Sink | None:
        return ShelfSink(options.get(NAME))

    def finder(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> ShelfFinder | None:
        return ShelfFinder(SHELVES[options.get(NAME)]) if "k" in key else None


class UpsertShelfFactory(ShelfFactory):
    identifier = "upsert-shelf"
    changes = "UPSERT"


class ReadOnlyFactory(RecordFactory):
    identifier = "read-only"

    def table_options(self) -> Sequence[TableOption[Any]]:
        return [NAME]


@pytest.fixture(autouse=True)
def shelves(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(factories, "_registered", {})
    for factory in (ShelfFactory, UpsertShelfFactory, ReadOnlyFactory):
        register_connector(factory)
    yield
    SHELVES.clear()
    ASKED.clear()


def environment(mode: str) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    made = TableEnvironment.create(settings)
    made.get_config().set("scurry.runner", "local").set("parallelism.default", "3")
    return made


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    return environment(request.param)


def define(env: TableEnvironment, name: str, columns: str, connector: str = "shelf", **options: str) -> None:
    given = {"connector": connector, "name": name} | options
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({listed})")


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(query).collect() as found:
        return sorted(map(tuple, found), key=str)


@pytest.mark.parametrize("splits", ["1", "2", "9"])
def test_records_of_a_source_are_rows(env: TableEnvironment, splits: str) -> None:
    SHELVES["t"] = [(1, "a"), {"k": 2, "v": "b"}, Row(k=3, v=None), Row(4, "d")]
    define(env, "t", "k INT, v STRING", splits=splits)
    assert rows(env, "SELECT v, k FROM t") == [("a", 1), ("b", 2), ("d", 4), (None, 3)]
    assert rows(env, "SELECT COUNT(*) FROM t")[-1] == (4,)


def test_values_of_python_are_those_of_columns(env: TableEnvironment) -> None:
    day, moment = datetime.date(2026, 3, 4), datetime.datetime(2026, 3, 4, 5, 6, 7, 890_000)
    SHELVES["t"] = [(day, moment, [1, 2], {"a": 1})]
    define(env, "t", "d DATE, m TIMESTAMP(3), l ARRAY<INT>, h MAP<STRING, INT>")
    define(env, "u", "d DATE, m TIMESTAMP(3), l ARRAY<INT>, h MAP<STRING, INT>")
    env.execute_sql("INSERT INTO u SELECT * FROM t").wait()
    assert SHELVES["u"] == [Row(d=day, m=moment, l=[1, 2], h={"a": 1})]


def test_a_value_that_does_not_fit_its_column_is_named(env: TableEnvironment) -> None:
    SHELVES["t"] = [("many", "a")]
    define(env, "t", "k INT, v STRING")
    with pytest.raises(ScurryError, match="'many'"):
        rows(env, "SELECT * FROM t")


def test_a_reader_that_has_no_splits_lets_the_job_end() -> None:
    SHELVES["t"] = [(1, "a")]
    env = environment("streaming")
    define(env, "t", "k INT, v STRING", **{"scan.parallelism": "5"})
    assert rows(env, "SELECT k FROM t") == [(1,)]


def test_only_inserted_rows_go_to_a_sink_of_inserted_rows() -> None:
    SHELVES["t"] = [(1, "a"), (1, "b")]
    env = environment("streaming")
    define(env, "t", "k INT, v STRING")
    define(env, "u", "k INT, n BIGINT")
    with pytest.raises(ValidationError, match="doesn't support consuming update changes"):
        env.execute_sql("INSERT INTO u SELECT k, COUNT(*) FROM t GROUP BY k")


def test_the_last_change_of_each_key_goes_to_a_sink_of_upserts() -> None:
    SHELVES["t"] = [(1, "a"), (2, "b"), (1, "c")]
    env = environment("streaming")
    env.get_config().set("parallelism.default", "1")
    define(env, "t", "k INT, v STRING")
    define(env, "u", "k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED", "upsert-shelf")
    env.execute_sql("INSERT INTO u SELECT k, COUNT(*) FROM t GROUP BY k").wait()
    assert sorted((str(row.get_row_kind()), row["k"], row["n"]) for row in SHELVES["u"]) == [("+U", 1, 2), ("+U", 2, 1)]


def test_a_sink_of_upserts_without_a_key_takes_inserted_rows() -> None:
    SHELVES["t"] = [(1, "a")]
    env = environment("streaming")
    define(env, "t", "k INT, v STRING")
    define(env, "u", "k INT, v STRING", "upsert-shelf")
    env.execute_sql("INSERT INTO u SELECT * FROM t").wait()
    assert SHELVES["u"] == [Row(k=1, v="a")]
    define(env, "w", "k INT, n BIGINT", "upsert-shelf")
    with pytest.raises(ValidationError, match="please declare primary key"):
        env.execute_sql("INSERT INTO w SELECT k, COUNT(*) FROM t GROUP BY k")


JOIN = "SELECT t.v, u.v FROM t JOIN u FOR SYSTEM_TIME AS OF t.p AS u ON t.{0} = u.{0}"


def test_rows_are_looked_up_by_key() -> None:
    SHELVES["t"] = [(1, "a"), (2, "b"), (1, "c"), (None, "d")]
    SHELVES["u"] = [{"k": 1, "v": "x"}, {"k": 1, "v": "y"}]
    env = environment("streaming")
    env.get_config().set("parallelism.default", "1")
    define(env, "t", "k INT, v STRING, p AS PROCTIME()")
    define(env, "u", "k INT, v STRING", **{"lookup.cache": "PARTIAL", "lookup.partial-cache.max-rows": "9"})
    assert rows(env, JOIN.format("k")) == [("a", "x"), ("a", "y"), ("c", "x"), ("c", "y")]
    assert ASKED == [{"k": 1}, {"k": 2}]


def test_columns_by_which_nothing_is_looked_up_are_refused() -> None:
    SHELVES["t"] = SHELVES["u"] = []
    env = environment("streaming")
    define(env, "t", "k INT, v STRING, p AS PROCTIME()")
    define(env, "u", "k INT, v STRING")
    with pytest.raises(ScurryError):
        rows(env, JOIN.format("v"))


def test_a_connector_without_a_source_or_a_sink_says_so(env: TableEnvironment) -> None:
    define(env, "t", "k INT", "read-only")
    with pytest.raises(ValidationError, match="can only be used as a sink"):
        rows(env, "SELECT * FROM t")
    with pytest.raises(ValidationError, match="can only be used as a source"):
        env.execute_sql("INSERT INTO t VALUES (1)")


def test_options_are_checked_as_those_of_other_connectors(env: TableEnvironment) -> None:
    define(env, "t", "k INT", splits="many")
    with pytest.raises(ValidationError, match="Invalid value for option 'splits'"):
        rows(env, "SELECT * FROM t")
    define(env, "u", "k INT", split="1")
    with pytest.raises(ValidationError, match="split"):
        rows(env, "SELECT * FROM u")


def test_identifiers_of_scurry_stay_its_own() -> None:
    class Mine(ShelfFactory):
        identifier = "kafka"

    with pytest.raises(ArgumentError, match="scurry has a connector 'kafka'"):
        register_connector(Mine)

    class Nameless(ShelfFactory):
        identifier = ""

    with pytest.raises(ArgumentError, match="needs an identifier"):
        register_connector(Nameless)


def test_packages_have_connectors_by_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = tmp_path / "shop-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[scurry.table_connectors]\nstore = shop_tables:StoreFactory\n")
    (tmp_path / "shop_tables.py").write_text(
        "from scurry.table.connectors import RecordFactory\n\n\n"
        "class StoreFactory(RecordFactory):\n    identifier = 'store'\n\n"
        "    def table_options(self):\n        return []\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert factories.find_factory("store").identifier == "store"
    assert "store" in option_values("connector", {})
    assert "scan.watermark.idle-timeout" in option_keys({"connector": "store"})
    with pytest.raises(ValidationError, match="Cannot discover a connector") as error:
        factories.find_factory("stores")
    assert "store" in str(error.value)


def test_a_package_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = tmp_path / "shop-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[scurry.table_connectors]\nstore = no_such_module:StoreFactory\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValidationError, match="'store' cannot be imported from no_such_module:StoreFactory"):
        factories.find_factory("store")
    assert option_keys({"connector": "store"}) == []


def test_registered_connectors_are_completed() -> None:
    assert "upsert-shelf" in option_values("connector", {})
    assert {"name", "splits"} <= set(option_keys({"connector": "shelf"}))
