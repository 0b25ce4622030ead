"""Every block of code in docs/ and README.md is run by a test, or is what the parser of SQL takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scurry.sql.syntax.parser import parse
from scurry.table import EnvironmentSettings, TableEnvironment
from support import TESTS
from support.docs.blocks import FENCED, PAGES
from support.docs.sql_guide import PAGES as GUIDE_PAGES
from support.docs.sql_guide import TUTORIALS

#: Pages whose programs print nothing that the page shows -> the test that runs them.
RUN_BY = {
    "connectors/cassandra.md": "connectors/cassandra/test_cassandra_page.py",
    "connectors/clickhouse.md": "connectors/clickhouse/test_clickhouse_page.py",
    "connectors/elasticsearch.md": "connectors/elasticsearch/test_elasticsearch_page.py",
    "connectors/dynamic-kafka.md": "connectors/kafka/test_dynamic_kafka_tables.py",
    "connectors/hybrid.md": "kafka/test_files_then_topic.py",
    "connectors/kafka.md": "kafka/test_files_then_topic.py",
    "connectors/pulsar.md": "connectors/pulsar/test_pulsar_server.py",
    "connectors/http.md": "connectors/http/test_http_tables.py",
    "connectors/mongodb.md": "connectors/mongodb/test_mongo_page.py",
    "connectors/mqtt.md": "docs/test_pages_of_queues.py",
    "connectors/prometheus.md": "connectors/prometheus/test_prometheus_server.py",
    "connectors/kinesis.md": "docs/test_pages_of_queues.py",
    "connectors/pubsub.md": "docs/test_pages_of_queues.py",
    "connectors/nats.md": "docs/test_pages_of_queues.py",
    "connectors/rabbitmq.md": "docs/test_pages_of_queues.py",
    "connectors/redis.md": "docs/test_pages_of_queues.py",
    "how-to/serving.md": "docs/test_serving.py",
    "connectors/spark.md": "spark/tables/test_python_data_sources.py",
    "agents.md": "rest/test_mcp.py",
    "beam.md": "beam/test_beam.py",
    "check.md": "cli/test_check.py",
    "replay.md": "cli/test_replay.py",
    "simulation.md": "testing/test_simulation.py",
    "testing.md": "testing/test_guide.py",
    "tutorials/kafka.md": "kafka/test_tutorial.py",
    "tutorials/live-board.md": "kafka/test_live_board.py",
}
#: Fragments: what is around them is said in the text -> the test that runs the same calls.
FRAGMENTS = {
    "connectors/formats.md": "kafka/test_schema_registry.py",
    "state-processor.md": "state/test_on_spark.py",
}
#: Pages whose statements build on each other.
GUIDE = {str(page.relative_to(TESTS.parent / "docs")) for page in [*GUIDE_PAGES, *TUTORIALS]}
#: What is parsed only, because a server, a file or a module has to be there.
PARSED_ONLY = re.compile(
    r"'http-async-sink'|'firehose'|'prometheus'|"
    r"\bpg\b|localhost:8181|SELECT \* FROM lake|RENAME id|'protobuf'|'xml'|'savepoint'|PLAN '"
)


def programs() -> list[tuple[str, bool]]:
    """The page of each program, and whether what it prints follows."""
    block = re.compile(r"^```python\n(.*?)^```\n+(```text)?", re.MULTILINE | re.DOTALL)
    return [(page, bool(text)) for page, whole in PAGES.items() for _, text in block.findall(whole)]


def test_every_program_is_run() -> None:
    without_result = {page for page, printed in programs() if not printed}
    assert without_result == set(RUN_BY) | set(FRAGMENTS)
    for page, test in {**RUN_BY, **FRAGMENTS}.items():
        assert (TESTS / test).exists(), f"{test}, which runs the programs of {page}"


def statements() -> list[Any]:
    found = []
    for page, text in PAGES.items():
        blocks = [block for language, block in FENCED.findall(text) if language == "sql"]
        # test_sql_client.py runs the first, wrong ones too; the second is PostgreSQL's.
        # Those of the guide build on each other: test_sql_guide.py runs them.
        if page not in ("sql-client.md", "connectors/jdbc.md") and page not in GUIDE:
            found += [pytest.param(block, id=f"{page}-{number}") for number, block in enumerate(blocks)]
    return found


@pytest.mark.parametrize("block", statements())
def test_statements_of_sql_are_right(block: str, tmp_path: Path) -> None:
    """Tables are created and read as far as `EXPLAIN` does; the lake is a directory."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for text in re.sub("s3://lake|/data/tables", str(tmp_path), block).split(";\n")[:-1]:
        text = text.strip()
        parse(text)
        if PARSED_ONLY.search(text) or text.startswith("SET "):
            continue
        environment.execute_sql(f"EXPLAIN {text}" if text.startswith("INSERT") else text)
        if (created := re.match(r"CREATE TABLE (\S+) ", text)) and "'delta'" not in text:
            environment.execute_sql(f"EXPLAIN SELECT * FROM {created[1]}")


def test_nearly_all_blocks_are_run() -> None:
    """Programs and statements; test_documented_commands.py checks commands and their options."""
    unrun = [page for page, printed in programs() if not printed and page in FRAGMENTS]
    total = len(programs())
    for page, text in PAGES.items():
        for block in (block for language, block in FENCED.findall(text) if language == "sql"):
            total += 1
            if page == "connectors/jdbc.md" or (page not in GUIDE and PARSED_ONLY.search(block)):
                unrun.append(page)
    assert total > 200
    assert len(unrun) / total <= 0.05, unrun
