"""A plugin of pytest that is loaded before SQLAlchemy's: the dialect, and how the suite gets at tables.

They are those of a catalog of files.
"""

from __future__ import annotations

import re
import shutil
from typing import Any

import pytest
from sqlalchemy import inspect
from sqlalchemy.dialects import registry
from sqlalchemy.testing.provision import (
    delete_from_all_tables,
    post_configure_engine,
    post_configure_testing_engine,
    temp_table_keyword_args,
)

from scurry.dbapi.sqlalchemy.compiler import ScurryDDLCompiler

# The entry points of pyproject.toml, which an installation that is older has not.
for _name in ("scurry", "scurry.dbapi"):
    registry.register(_name, "scurry.dbapi.sqlalchemy", "ScurryDialect")


@post_configure_engine.for_db("scurry")  # type: ignore[untyped-decorator]
def _with_format(url: Any, engine: Any, follower_ident: Any) -> None:
    engine.dialect.table_options = {"format": "json"}


@post_configure_testing_engine.for_db("scurry")  # type: ignore[untyped-decorator]
def _with_format_too(url: Any, engine: Any, options: Any, scope: Any) -> None:
    engine.dialect.table_options = {"format": "json"}


@temp_table_keyword_args.for_db("scurry")  # type: ignore[untyped-decorator]
def _temporary(cfg: Any, eng: Any) -> dict[str, Any]:
    # The catalog of files has no place for it.
    return {"prefixes": ["TEMPORARY"], "scurry_with": {"connector": "filesystem", "path": "temporary"}}


@delete_from_all_tables.for_db("scurry")  # type: ignore[untyped-decorator]
def _emptied(connection: Any, cfg: Any, metadata: Any) -> None:
    """Remove the files of the tables: the connector 'filesystem' neither deletes nor truncates."""
    for table in metadata.sorted_tables:
        if inspect(connection).has_table(table.name, table.schema):
            name = connection.dialect.identifier_preparer.format_table(table)
            text = connection.exec_driver_sql(f"SHOW CREATE TABLE {name}").scalar()
            found = re.search(r"'path' = '([^']+)'", text)
            if found:
                shutil.rmtree(found[1], ignore_errors=True)


def _no_index(self: Any, create: Any, **kw: Any) -> str:
    """Let fixtures go on that want an index: a statement without effect."""
    return "SHOW CURRENT DATABASE"


ScurryDDLCompiler.visit_create_index = _no_index  # type: ignore[method-assign]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that cannot pass."""
    from support.compliance.requirements import EXCLUDED  # SQLAlchemy wants to be set up first

    def name_of(item: pytest.Item) -> str:
        cls = item.parent.name.partition("_scurry")[0] if item.parent is not None else ""
        return f"{cls}::{item.name}"

    left_out = [item for item in items if name_of(item).startswith(tuple(EXCLUDED))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]
