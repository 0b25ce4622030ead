"""Modules by their former names, which savepoints, checkpoints and compiled plans of earlier releases contain.

An import of a former name gives a module that has the names of today's, so that pickle finds its classes.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importlib.abc takes a millisecond to import

#: Former name of a module or package -> its name; what is below a package has moved along, unless it is named itself.
MOVED = {
    "scurry.catalog": "scurry.sql.catalog",
    "scurry.common._basic_typeinfo": "scurry.common._types.basic_typeinfo",
    "scurry.common._composite_typeinfo": "scurry.common._types.composite_typeinfo",
    "scurry.common._java_regex.translator": "scurry.common._java_regex.patterns",
    "scurry.common.bulk_writer": "scurry.common.serialization",
    "scurry.common.dead_letter": "scurry.common.output_tag",
    "scurry.common.time_domain": "scurry.common.time",
    "scurry.connectors.discard_sink": "scurry.connectors.sink",
    "scurry.connectors.files.csv_format": "scurry.connectors.files.formats.csv.format",
    "scurry.connectors.files.csv_schema": "scurry.connectors.files.formats.csv.schema",
    "scurry.connectors.files.message_lines": "scurry.connectors.files.formats.message_lines",
    "scurry.connectors.files.orc": "scurry.connectors.files.formats.orc",
    "scurry.connectors.files.parquet": "scurry.connectors.files.formats.parquet",
    "scurry.connectors.files.source": "scurry.connectors.files.reading.source",
    "scurry.connectors.files.text": "scurry.connectors.files.formats.stream",
    "scurry.connectors.files.writing.rolling": "scurry.connectors.files.writing.parts",
    "scurry.connectors.jdbc.redaction": "scurry.connectors.jdbc.connection",
    "scurry.connectors.kafka.source": "scurry.connectors.messages",
    "scurry.connectors.lakes.delta_library": "scurry.connectors.lakes.delta_table",
    "scurry.connectors.sequence": "scurry.connectors.ranges",
    "scurry.connectors.tables": "scurry.sql.connectors",
    "scurry.connectors.tables.lookup_cache": "scurry.connectors.lookup_cache",
    "scurry.connectors.tables.split_enumerator": "scurry.connectors.split_queues",
    "scurry.dataframe._frame.over": "scurry.dataframe._frame.columns",
    "scurry.datastream.data_stream._instead": "scurry.datastream.data_stream._refused",
    "scurry.datastream.data_stream.co_grouped_streams": "scurry.datastream.data_stream.joins",
    "scurry.datastream.data_stream.collect": "scurry.datastream.data_stream.sink",
    "scurry.datastream.data_stream.interval_join": "scurry.datastream.data_stream.joins",
    "scurry.datastream.data_stream.joined_streams": "scurry.datastream.data_stream.joins",
    "scurry.datastream.formats._json_reading": "scurry.datastream.formats._json_records",
    "scurry.datastream.formats._json_writing": "scurry.datastream.formats._json_records",
    "scurry.datastream.functions.broadcast": "scurry.datastream.functions.process",
    "scurry.datastream.functions.joins": "scurry.datastream.functions.transformations",
    "scurry.datastream.functions.retries": "scurry.datastream.functions.asynchronous",
    "scurry.datastream.window.delta_trigger": "scurry.datastream.window.composed_triggers",
    "scurry.datastream.window.processing_timeout_trigger": "scurry.datastream.window.composed_triggers",
    "scurry.datastream.window.serializers": "scurry.datastream.window.windows",
    "scurry.dependencies": "scurry.graph.dependencies",
    "scurry.directories": "scurry.common._process.directories",
    "scurry.formats": "scurry.sql.formats",
    "scurry.formats.csv.arrow_reading": "scurry.connectors.files.formats.csv.arrow_columns",
    "scurry.formats.csv.settings": "scurry.connectors.files.formats.csv.schema",
    "scurry.formats.fast_columns": "scurry.connectors.files.formats.fast_columns",
    "scurry.formats.temporal_text": "scurry.sql.values.texts",
    "scurry.functions": "scurry.sql.functions",
    "scurry.gateway": "scurry.sql.gateway",
    "scurry.launch": "scurry.common._process.launch",
    "scurry.logical_types": "scurry.sql.types",
    "scurry.patterns": "scurry.cep.patterns",
    "scurry.patterns.automaton.checks": "scurry.cep.patterns.automaton.compiler",
    "scurry.patterns.automaton.decisions": "scurry.cep.patterns.automaton.states",
    "scurry.patterns.automaton.failure": "scurry.cep.patterns.automaton.stage_conditions",
    "scurry.patterns.automaton.queues": "scurry.cep.patterns.automaton.state",
    "scurry.patterns.within_type": "scurry.cep.patterns.skip_strategies",
    "scurry.progress": "scurry.runtime.progress",
    "scurry.progress.display": "scurry.runtime.progress",
    "scurry.progress.panel": "scurry.runtime.progress",
    "scurry.pyflink_names": "scurry.common._pyflink.names",
    "scurry.pyflink_version": "scurry.common._pyflink.version",
    "scurry.python_values": "scurry.sql.values",
    "scurry.notebook": "scurry.sql",
    "scurry.relational": "scurry.sql.plan",
    "scurry.relational.changelog": "scurry.sql.planner.changelog",
    "scurry.relational.column_intervals": "scurry.sql.planner.column_intervals",
    "scurry.relational.constants": "scurry.sql.evaluation.constants",
    "scurry.relational.explain": "scurry.sql.planner.explain",
    "scurry.relational.monotonicity": "scurry.sql.planner.monotonicity",
    "scurry.relational.plan": "scurry.sql.plan.nodes",
    "scurry.relational.repeated_sets": "scurry.sql.validator.grouping",
    "scurry.relational.rules": "scurry.sql.planner.rules",
    "scurry.relational.unique_keys": "scurry.sql.planner.unique_keys",
    "scurry.rest.session.multipart": "scurry.rest.session.programs",
    "scurry.rest.session.stored": "scurry.rest.session.directory",
    "scurry.runtime.driver.assignments": "scurry.runtime.exchange.wire",
    "scurry.runtime.operators.aligned_window": "scurry.runtime.operators.window_variants",
    "scurry.runtime.operators.async_calls": "scurry.runtime.operators.asynchronous",
    "scurry.runtime.operators.cep.results": "scurry.runtime.operators.cep.run",
    "scurry.runtime.operators.cep.waiting": "scurry.runtime.operators.cep.operator",
    "scurry.runtime.operators.evicting_window": "scurry.runtime.operators.window_variants",
    "scurry.runtime.operators.keyed_rows": "scurry.runtime.operators.rows",
    "scurry.runtime.operators.row_records": "scurry.runtime.operators.rows",
    "scurry.runtime.operators.row_watermarks": "scurry.runtime.operators.rows",
    "scurry.runtime.operators.session_window": "scurry.runtime.operators.window_variants",
    "scurry.runtime.savepoint.migration": "scurry.runtime.state.evolution.job",
    "scurry.runtime.savepoint.taking": "scurry.runtime.savepoint.metadata",
    "scurry.runtime.state.class_changes": "scurry.runtime.state.evolution.class_changes",
    "scurry.runtime.state.classes": "scurry.runtime.state.evolution.classes",
    "scurry.runtime.state.migration": "scurry.runtime.state.evolution.operator",
    "scurry.runtime.state.restore_filter": "scurry.runtime.savepoint.restore",
    "scurry.runtime.tables": "scurry.sql.evaluation",
    "scurry.runtime.tables.reduce_conditions": "scurry.sql.planner.rules.reduce_conditions",
    "scurry.runtime.tables.streaming": "scurry.sql.operators",
    "scurry.session": "scurry.rest.session",
    "scurry.spark.session.early": "scurry.spark.session.prewarm",
    "scurry.sql.connectors.kafka.reducing": "scurry.sql.connectors.reducing",
    "scurry.sql.connectors.kafka.rows": "scurry.sql.connectors.messages.rows",
    "scurry.sql.connectors.kafka.sink": "scurry.sql.connectors.messages.serializer",
    "scurry.sql.connectors.kafka.source": "scurry.sql.connectors.messages.source",
    "scurry.sql.connectors.split_enumerator": "scurry.connectors.split_queues",
    "scurry.sql.evaluation.batch.sorting": "scurry.sql.evaluation.batch.batches",
    "scurry.sql.evaluation.batch.unnesting": "scurry.sql.evaluation.row_wise",
    "scurry.sql.evaluation.batch.windows": "scurry.sql.evaluation.row_wise",
    "scurry.sql.evaluation.matching.batch": "scurry.sql.evaluation.matching.matcher",
    "scurry.sql.evaluation.process.state": "scurry.sql.operators.process",
    "scurry.sql.evaluation.times": "scurry.sql.evaluation.batch.batches",
    "scurry.sql.evaluation.user_functions.series": "scurry.sql.evaluation.user_functions.vectorized",
    "scurry.sql.formats.csv.reading": "scurry.sql.formats.csv.codec",
    "scurry.sql.formats.csv.writing": "scurry.sql.formats.csv.codec",
    "scurry.sql.formats.json.reading": "scurry.sql.formats.json.codec",
    "scurry.sql.formats.json.writing": "scurry.sql.formats.json.codec",
    "scurry.sql.formats.temporal_text": "scurry.sql.values.texts",
    "scurry.sql.functions.java_random": "scurry.sql.functions.scalar.random_numbers",
    "scurry.sql.functions.java_regex.columns": "scurry.sql.functions.scalar.regular_expressions",
    "scurry.sql.functions.java_time.moment": "scurry.sql.functions.java_time.calendar",
    "scurry.sql.functions.selection": "scurry.sql.functions.operators.logic",
    "scurry.sql.models.local.loading": "scurry.sql.models.rows",
    "scurry.sql.models.parsing": "scurry.sql.models.openai.factory",
    "scurry.sql.nodes": "scurry.sql.syntax.nodes",
    "scurry.sql.operators.groups.choices": "scurry.sql.operators.aggregation.selecting",
    "scurry.sql.operators.groups.distinct": "scurry.sql.operators.aggregation.distinct",
    "scurry.sql.operators.groups.expand": "scurry.sql.operators.calc",
    "scurry.sql.operators.groups.extremes": "scurry.sql.operators.aggregation.extremes",
    "scurry.sql.operators.groups.partial": "scurry.sql.operators.aggregation.partial",
    "scurry.sql.operators.groups.pieces": "scurry.sql.operators.aggregation.pieces",
    "scurry.sql.operators.groups.running": "scurry.sql.operators.aggregation.running",
    "scurry.sql.operators.groups.segments": "scurry.sql.operators.aggregation.segments",
    "scurry.sql.operators.hashed_rows.chunked_pages": "scurry.sql.operators.hashed_rows.pages",
    "scurry.sql.operators.hashed_rows.encoding": "scurry.sql.operators.hashed_rows.pages",
    "scurry.sql.operators.hashed_rows.entries": "scurry.sql.operators.hashed_rows.function",
    "scurry.sql.operators.hashed_rows.equality": "scurry.sql.operators.hashed_rows.hashing",
    "scurry.sql.operators.match.lowering": "scurry.sql.operators.match.operator",
    "scurry.sql.operators.ranks.limit": "scurry.sql.operators.ranks.sort",
    "scurry.sql.operators.state_descriptions": "scurry.sql.operators.identities",
    "scurry.sql.plan.lookup_retry": "scurry.sql.plan.nodes.joins",
    "scurry.sql.plan.physical.matching": "scurry.sql.plan.matching",
    "scurry.sql.plan.physical.sets": "scurry.sql.plan.physical.changes",
    "scurry.sql.planner.repeated_sets": "scurry.sql.validator.grouping",
    "scurry.sql.planner.rules.batch_limits": "scurry.sql.planner.rules.limits",
    "scurry.sql.planner.rules.own_keys": "scurry.sql.planner.rules.decorrelation",
    "scurry.sql.planner.rules.streaming.grouping_sets": "scurry.sql.planner.rules.streaming.aggregates",
    "scurry.sql.planner.rules.streaming.interval_joins": "scurry.sql.planner.rules.streaming.joins",
    "scurry.sql.planner.rules.streaming.lookup_joins": "scurry.sql.planner.rules.streaming.joins",
    "scurry.sql.planner.rules.streaming.over_aggregates": "scurry.sql.planner.rules.streaming.aggregates",
    "scurry.sql.planner.rules.streaming.regular_joins": "scurry.sql.planner.rules.streaming.joins",
    "scurry.sql.planner.rules.streaming.temporal_joins": "scurry.sql.planner.rules.streaming.joins",
    "scurry.sql.planner.rules.streaming.two_phase_aggregates": "scurry.sql.planner.rules.streaming.aggregates",
    "scurry.sql.planner.rules.streaming.window_joins": "scurry.sql.planner.rules.streaming.joins",
    "scurry.sql.planner.rules.streaming_limits": "scurry.sql.planner.rules.limits",
    "scurry.sql.planner.rules.unneeded_aggregates": "scurry.sql.planner.rules.merge_projections",
    "scurry.sql.span": "scurry.sql.syntax.span",
    "scurry.sql.statements.catalog_reader": "scurry.sql.validator.session_catalog",
    "scurry.sql.statements.changes": "scurry.sql.statements.planning",
    "scurry.sql.statements.compiled.declared_types": "scurry.sql.statements.compiled.encoding",
    "scurry.sql.statements.frames": "scurry.sql.statements.dataframes",
    "scurry.sql.statements.listing.serializable": "scurry.sql.statements.listing.show_create",
    "scurry.sql.types.injective_casts": "scurry.sql.types.cast_rules",
    "scurry.sql.validator.names": "scurry.sql.validator.scope",
    "scurry.sql.validator.ordering": "scurry.sql.validator.over",
    "scurry.sql_client": "scurry.sql.client",
    "scurry.state.naming": "scurry.runtime.savepoint.naming",
    "scurry.state.schemas": "scurry.state.bootstrap",
    "scurry.statements": "scurry.sql.statements",
    "scurry.statements.runners": "scurry.sql.statements.batch.runners",
    "scurry.table._operations.replacing": "scurry.sql.syntax.nodes.base",
    "scurry.table._operations.values": "scurry.table._operations.fields",
    "scurry.table._udf.hints": "scurry.sql.values.hints",
    "scurry.table._unverified": "scurry.sql.values.elements",
    "scurry.table._values": "scurry.sql.values.collected",
    "scurry.table.type_conversion": "scurry.sql.values.type_information",
    "scurry.util": "scurry.common._pyflink.util",
    "scurry.user_frames": "scurry.errors.user_frames",
}

_FORMER = tuple(MOVED)


def present_name(module: str) -> str:
    """Return the name that a module has today, given that or a former one."""
    below = module
    while below not in MOVED:
        below = below.rpartition(".")[0]
        if not below:
            return module
    return present_name(MOVED[below] + module[len(below) :])


class _Former(Loader):
    """Make a module that has the names of another one.

    It is a module of its own: the import system makes a module an attribute of its package, which may hand on a
    function of that name.
    """

    def __init__(self, present: str) -> None:
        self._present = present

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Hand on the names of the module that there is today."""
        present = importlib.import_module(self._present)
        vars(module).update(__doc__=present.__doc__, __getattr__=lambda name: getattr(present, name))


class _FormerNames:
    """Find modules by their former names, before the path is searched: byte code may be left in their directories."""

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(_FORMER):
            return None
        present = present_name(name)
        return None if present == name else ModuleSpec(name, _Former(present), is_package=True)


sys.meta_path.insert(0, _FormerNames())
