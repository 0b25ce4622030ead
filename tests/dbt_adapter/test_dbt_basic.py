"""dbt's own tests of adapters: what every adapter has."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.basic.expected_catalog import base_expected_catalog, expected_references_catalog, no_stats
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_incremental import BaseIncremental, BaseIncrementalNotSchemaChange
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection

pytestmark = pytest.mark.dbt

CAST_FOR_FLINK = """
{{ config(materialized="incremental", unique_key="user_id_current_time", on_schema_change="sync_all_columns") }}
select
    '1' || '-' || cast(current_timestamp as string) as user_id_current_time,
    {% if is_incremental() %}
        'thisis18characters' as platform
    {% else %}
        'okthisis20characters' as platform
    {% endif %}
"""


@pytest.fixture(scope="class")
def delta_target(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Tables that take UPDATE, by which dbt's tests change rows."""
    path = str(tmp_path_factory.mktemp("warehouse"))
    return {"type": "scurry", "threads": 2, "path": path, "table_options": {"connector": "delta"}}


class TestSimpleMaterializations(BaseSimpleMaterializations):
    """Tables, views and seeds, and models that become another kind."""


class TestSingularTests(BaseSingularTests):
    """Tests that are queries."""


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    """Tests of ephemeral models."""


class TestEmpty(BaseEmpty):
    """A project without models."""


class TestEphemeral(BaseEphemeral):
    """Models that are parts of others."""


class TestIncremental(BaseIncremental):
    """Models that append."""


class TestIncrementalNotSchemaChange(BaseIncrementalNotSchemaChange):
    """A text of another length is no change of the schema."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"incremental_not_schema_change.sql": CAST_FOR_FLINK}


class TestGenericTests(BaseGenericTests):
    """Tests of YAML files."""


class TestSnapshotCheckCols(BaseSnapshotCheckCols):
    """Snapshots by the values of columns."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, delta_target: dict[str, Any]) -> dict[str, Any]:
        return delta_target


class TestSnapshotTimestamp(BaseSnapshotTimestamp):
    """Snapshots by a time of changes."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, delta_target: dict[str, Any]) -> dict[str, Any]:
        return delta_target


class TestTableMaterialization(BaseTableMaterialization):
    """Options of other databases are left out."""


class TestValidateConnection(BaseValidateConnection):
    """What `dbt debug` asks."""


class TestAdapterMethods(BaseAdapterMethod):
    """What macros call."""


class TestDocsGenerate(BaseDocsGenerate):
    """`catalog.json` has tables, views and columns."""

    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any) -> Any:
        return base_expected_catalog(
            project, role=None, id_type="BIGINT", text_type="STRING", time_type="TIMESTAMP(6)", view_type="view",
            table_type="table", model_stats=no_stats(),
        )  # fmt: skip


class TestDocsGenReferences(BaseDocsGenReferences):
    """`catalog.json` of models that refer to others."""

    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any) -> Any:
        return expected_references_catalog(
            project, role=None, id_type="BIGINT", text_type="STRING", time_type="TIMESTAMP(6)", bigint_type="BIGINT",
            view_type="view", table_type="table", model_stats=no_stats(),
        )  # fmt: skip
