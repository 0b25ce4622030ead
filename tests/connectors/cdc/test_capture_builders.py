"""Builders of sources of changes refuse what cannot work before a job runs; nothing here needs a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Duration, Types
from scurry.datastream.connectors.cdc import (
    JsonDebeziumDeserializationSchema,
    MySqlSource,
    MySqlSourceBuilder,
    PostgresIncrementalSource,
    PostgresSourceBuilder,
    StartupOptions,
)
from scurry.errors import ScurryError


def mysql() -> MySqlSourceBuilder:
    made = MySqlSource.builder().hostname("db").username("ann").password("secret").table_list("shop.orders")
    return made.deserializer(JsonDebeziumDeserializationSchema())


def postgres() -> PostgresSourceBuilder:
    made = PostgresIncrementalSource.builder().hostname("db").database("shop").username("ann").password("secret")
    return made.table_list("public.orders").slot_name("s").deserializer(JsonDebeziumDeserializationSchema())


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: MySqlSource.builder().build(), r"needs hostname\(...\), username\(...\), table_list\(...\), "),
    "no slot": (lambda: PostgresSourceBuilder().build(), r"database\(...\).*slot_name\(...\).*password\(...\)"),
    "schema": (lambda: JsonDebeziumDeserializationSchema(True), "without the schema of their tables"),
    "format": (lambda: JsonDebeziumDeserializationSchema(False, {"decimal.format": "text"}), "base64 or numeric"),
    "deserializer": (lambda: mysql().deserializer(str), "takes a JsonDebeziumDeserializationSchema"),  # type: ignore[arg-type]
    "committed": (lambda: mysql().startup_options(StartupOptions.committed()), "cannot begin at committed-offset"),
    "timestamp": (lambda: postgres().startup_options(StartupOptions.timestamp(1)), "cannot begin at timestamp"),
    "ddl": (lambda: mysql().include_schema_changes(True), "there are no records of DDL"),
    "property": (lambda: mysql().debezium_properties({"slot.drop.on.stop": "true"}), "does not run here"),
    "handling": (lambda: mysql().debezium_properties({"decimal.handling.mode": "double"}).build(), "precise or string"),
    "slot": (lambda: postgres().slot_name("My-Slot"), "lower-case letters"),
    "server id": (lambda: mysql().server_id("9-5"), "ascending order"),
    "words": (lambda: mysql().server_id("five"), "not a numeric"),
    "size": (lambda: mysql().split_size(1), r"split_size\(1\): it is at least 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_work_is_refused(case: str) -> None:
    build, words = REFUSED[case]
    with pytest.raises(ScurryError, match=words):
        build()


def test_all_settings_arrive() -> None:
    made = mysql().port(3307).server_id("7-9").server_time_zone("UTC").database_list("shop").fetch_size(5)
    made = made.connect_timeout(Duration.of_seconds(7)).connect_max_retries(2).chunk_key_column("id")
    source = made.scan_newly_added_table_enabled(True).include_schema_changes(False).split_size(9).build()
    settings = source._capture.settings  # type: ignore[attr-defined]
    found = (settings.port, settings.server_ids, settings.fetch_rows, settings.connect_seconds, settings.retries)
    assert found == (3307, (7, 9), 5, 7, 2)
    assert (settings.chunk_key, source._settings.chunk_rows, source._settings.adds_tables) == ("id", 9, True)
    assert source.produced_type == Types.STRING()
    assert not source.bounded


def test_a_snapshot_has_a_slot_of_its_own() -> None:
    made = postgres().include_partitioned_tables(True).lsn_commit_checkpoints_delay(5)
    source = made.startup_options(StartupOptions.snapshot()).build()
    settings = source._capture.settings  # type: ignore[attr-defined]
    assert (settings.slot, settings.partitioned, source._settings.release_delay) == ("s_snapshot", True, 5)
    assert source.bounded
    properties = {"publication.name": "p", "publication.autocreate.mode": "disabled", "slot.drop.on.stop": "true"}
    settings = postgres().debezium_properties(properties).build()._capture.settings  # type: ignore[attr-defined]
    assert (settings.publication, settings.makes_publication, settings.drops_slot) == ("p", False, True)


def test_lists_of_tables_may_have_commas() -> None:
    source = mysql().database_list("shop,store").table_list(r"shop\.a{1,2}, store.b").build()
    found = source._capture.settings.tables  # type: ignore[attr-defined]
    assert found == r"(?=(?:(?:shop)|(?:store))\.)(?:(?:shop\.a{1,2})|(?:store.b))"


def test_sources_are_made_by_builders() -> None:
    with pytest.raises(ScurryError, match=r"made by MySqlSource.builder\(...\)"):
        MySqlSource("localhost")  # type: ignore[call-arg, arg-type]
