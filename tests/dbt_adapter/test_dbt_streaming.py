"""The example project: streaming jobs in a gateway, and the same models over history."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import dbtRunner

from scurry import dbapi
from scurry.sql.gateway.sessions import Sessions
from support.gateway import TOKEN, Gateway, serving

pytestmark = pytest.mark.dbt

EXAMPLE = Path(__file__).parents[2] / "examples" / "dbt"


@pytest.fixture(scope="module")
def gateway() -> Iterator[Gateway]:
    with serving(Sessions({"scurry.runner": "local", "parallelism.default": "1"}), TOKEN) as served:
        yield served


class Project:
    """A copy of the example, whose tables are those of a warehouse."""

    def __init__(self, directory: Path) -> None:
        self.root, self.warehouse = directory / "project", directory / "warehouse"
        shutil.copytree(EXAMPLE, self.root, ignore=shutil.ignore_patterns("target", "logs", "warehouse"))
        self.warehouse.mkdir()
        self.printed: list[str] = []

    def dbt(self, *arguments: str, target: str = "live", passes: bool = True) -> list[str]:
        """Run a command of dbt, and return its messages."""
        messages: list[str] = []
        runner = dbtRunner(callbacks=[lambda event: messages.append(event.info.msg)])
        where = ["--project-dir", str(self.root), "--profiles-dir", str(self.root), "--log-path", str(self.root)]
        done = runner.invoke([*arguments, *where, "--target", target])
        assert done.success is passes, done.exception
        return messages

    def change(self, old: str, new: str) -> None:
        """Change the model of the streaming job."""
        model = self.root / "models" / "large_orders.sql"
        text = model.read_text()
        assert old in text
        model.write_text(text.replace(old, new))

    def add_orders(self, first: int, last: int) -> None:
        """Add a file of orders, all of them large."""
        lines = [
            json.dumps({"id": n, "customer": f"c{n % 3}", "amount": 10 + n, "ordered": "2026-11-30 10:00:00"})
            for n in range(first, last + 1)
        ]
        hidden = self.root / "data" / "orders" / f".{first}"
        hidden.write_text("\n".join(lines) + "\n")
        hidden.rename(self.root / "data" / "orders" / f"{first}.json")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query over the warehouse, in order."""
        with dbapi.connect("scurry://") as connection:
            connection.execute(f"CREATE CATALOG dbt WITH ('type' = 'filesystem', 'path' = '{self.warehouse}')")
            return sorted(connection.execute(query).fetchall())

    def wait_for(self, query: str, expected: list[tuple[Any, ...]]) -> None:
        """Wait until a query has these rows."""
        end = time.monotonic() + 240
        while (found := self.rows(query)) != expected:
            assert time.monotonic() < end, found
            time.sleep(0.3)


@pytest.fixture
def project(tmp_path: Path, gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path)
    monkeypatch.setenv("SHOP_WAREHOUSE", str(made.warehouse))
    monkeypatch.setenv("SHOP_ORDERS", str(made.root / "data" / "orders"))
    monkeypatch.setenv("SHOP_GATEWAY_PORT", gateway.url.rpartition(":")[2])
    monkeypatch.setenv("SCURRY_REST_TOKEN", TOKEN)
    return made


IDS = "SELECT id FROM dbt.shop.large_orders"


def said(messages: list[str], text: str) -> list[str]:
    return [each for each in messages if text in each]


def test_the_example_is_right_over_history(project: Project) -> None:
    messages = project.dbt("build", target="history")
    assert said(messages, "PASS=7 WARN=0 ERROR=0")
    assert project.rows("SELECT customer, orders FROM dbt.shop.customers") == [("ann", 2), ("cid", 1)]
    project.dbt("source", "freshness", target="history")


def test_a_changed_model_goes_on_from_a_savepoint_without_loss(project: Project) -> None:
    assert said(project.dbt("run", "--select", "large_orders"), "large_orders`: job ")
    project.wait_for(IDS, [(1,), (3,), (4,)])
    assert said(project.dbt("run", "--select", "large_orders"), "runs as job")

    project.add_orders(100, 120)
    project.change("SELECT id, customer,", "SELECT id, UPPER(customer) AS customer,")
    project.add_orders(200, 220)
    assert said(project.dbt("run", "--select", "large_orders"), "from savepoint")
    project.add_orders(300, 320)
    expected = [1, 3, 4, *range(100, 121), *range(200, 221), *range(300, 321)]
    project.wait_for(IDS, [(n,) for n in expected])
    late = project.rows("SELECT DISTINCT customer FROM dbt.shop.large_orders WHERE id >= 300")
    assert late == [("C0",), ("C1",), ("C2",)]
    assert said(project.dbt("test", "--select", "large_orders,test_type:data"), "ERROR=0")


def test_a_streaming_job_needs_a_gateway(project: Project) -> None:
    profile = project.root / "profiles.yml"
    profile.write_text(profile.read_text().replace("      host: 127.0.0.1\n", "").replace(
        "      port: \"{{ env_var('SHOP_GATEWAY_PORT', '8083') | as_number }}\"\n", ""
    ))  # fmt: skip
    messages = project.dbt("run", "--select", "large_orders", passes=False)
    assert said(messages, "name a gateway by `url` or `host` in the profile")
