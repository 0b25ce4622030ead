"""Parts of SQLAlchemy's suite that Flink's SQL does not have, each with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

_NO_CONSTRAINTS = "there are no constraints but primary keys"
_NO_INDEXES = "there are no indexes"
_NO_DEFAULTS = "columns have no defaults and no identities"
_APPENDED = "tables of the connector 'filesystem' are only appended to"

#: Requirement -> the reason why it is not met.
NOT_MET = {
    "autoincrement_insert": _NO_DEFAULTS,
    "autoincrement_without_sequence": _NO_DEFAULTS,
    "empty_inserts": _NO_DEFAULTS,
    "empty_inserts_executemany": _NO_DEFAULTS,
    "implicit_default_schema": "no name of a database is implied",
    "foreign_key_constraint_reflection": _NO_CONSTRAINTS,
    "self_referential_foreign_keys": _NO_CONSTRAINTS,
    "unique_constraint_reflection": _NO_CONSTRAINTS,
    "unique_constraints_reflect_as_index": _NO_CONSTRAINTS,
    "check_constraint_reflection": _NO_CONSTRAINTS,
    "primary_key_constraint_reflection": "a key that nobody enforces has no name",
    "index_reflection": _NO_INDEXES,
    "index_ddl_if_exists": _NO_INDEXES,
    "reflect_indexes_with_ascdesc": _NO_INDEXES,
    "table_value_constructor": "a parameter in VALUES has no type",
    "insert_executemany_returning": "there is no RETURNING",
    "savepoints": "there are no transactions",
    "transaction_isolation": "there are no transactions",
    "update_from": _APPENDED,
    "sane_rowcount": "the number of written rows is not known",
    "sql_expression_limit_offset": "LIMIT takes a number",
    "temp_table_reflection": "SHOW TABLES lists temporary tables with the others",
    "temporary_tables": "a temporary table needs a connector",
    "has_temp_table": "a temporary table needs a connector",
    "temporary_views": "a temporary table needs a connector",
    "comment_reflection": "a comment cannot be changed",
    "denormalized_names": "names keep their case",
    "table_via_select": "CREATE TABLE AS is written without options of the table",
    "time_microseconds": "TIME has milliseconds",
    "ctes_on_dml": "WITH is for queries",
}

#: Requirements that are met although few databases do.
MET = (
    "except_",
    "intersect",
    "regexp_match",
    "schemas",
    "view_column_reflection",
    "view_reflection",
    "views",
    "window_functions",
)

#: Test -> the reason why it cannot pass, where there is no requirement for it.
EXCLUDED = {
    "ExceptionTest::test_integrity_error": "nobody enforces primary keys",
    "InsertBehaviorTest::test_insert_from_select_autoinc": _NO_DEFAULTS,
    "InsertBehaviorTest::test_no_results_for_non_returning_insert": _NO_DEFAULTS,
    "LongNameBlowoutTest": _NO_INDEXES,
    "NumericTest::test_enotation_decimal": _APPENDED,
    "NumericTest::test_float": _APPENDED,
    "NumericTest::test_numeric": _APPENDED,
    "NumericTest::test_precision_decimal": _APPENDED,
    "TableDDLTest::test_underscore_names": "a catalog of files has no names that begin with an underscore",
    "FutureTableDDLTest::test_underscore_names": "a catalog of files has no names that begin with an underscore",
    "TableViaSelectTest": "CREATE TABLE AS is written without options of the table",
    "TrueDivTest::test_truediv_divisor[numeric_38_digit": "a literal of 38 digits is out of range, as in Flink",
}


class Requirements(SuiteRequirements):
    """The requirements of the suite for this dialect."""


def _open(requirements: Requirements) -> Any:
    made: Callable[[], Any] = exclusions.open
    return made()


def _closed(requirements: Requirements) -> Any:
    made: Callable[[], Any] = exclusions.closed
    return made()


for _name in NOT_MET:
    setattr(Requirements, _name, property(_closed))
for _name in MET:
    setattr(Requirements, _name, property(_open))
