"""SavepointFactory: tables of the connector `savepoint`, which read the keyed state of an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.errors import StateNotFoundError, UnsupportedError, ValidationError
from scurry.errors.base import HINT
from scurry.errors.suggestions import similar_name
from scurry.runtime.savepoint.format import OperatorState, SavepointMetadata
from scurry.runtime.savepoint.naming import StateNames, the_operator
from scurry.runtime.savepoint.reading import open_savepoint
from scurry.runtime.state.schema import KEY, ROWS
from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of
from scurry.sql.connectors.contract import TableContext, TableFactory, TableSource
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.savepoints.columns import LIST, MAP, VALUE, StateColumn, fits, kind_of, stored_type
from scurry.sql.savepoints.source import SavepointSource
from scurry.sql.savepoints.uid_hash import uid_hash

PATH = TableOption("state.path", str, None, "The savepoint: a path, or an `s3://`, `gs://` or `hdfs://` address.", True)
UID = TableOption("operator.uid", str, None, "The operator's uid; it or `operator.uid.hash` is needed.")
UID_HASH = TableOption("operator.uid.hash", str, None, "The hash that Flink computes of the operator's uid.")
BACKEND = TableOption(
    "state.backend.type",
    str,
    None,
    "The state backend that wrote the state: savepoints of scurry have one format.",
    without_effect=True,
)
ALLOW_UNTRUSTED = TableOption(
    "scurry.savepoint.allow-untrusted",
    boolean,
    False,
    "Whether to read a savepoint that other users could have written; they could run code in the job.",
)
OPTIONS = (PATH, UID, UID_HASH, BACKEND, ALLOW_UNTRUSTED)

_ONE_KEY = (
    "declare PRIMARY KEY (k) NOT ENFORCED: one column shows the keys; those that are tuples have a column of type "
    "ROW<f0 ..., f1 ...>"
)
#: Kinds of state that an operator keeps for windows and matches, not for a key alone.
_WITHOUT_TABLES = ("window", "pattern")
#: Options of columns that name classes of Java.
OF_JAVA = ("key-class", "key-type-factory", "value-class", "value-type-factory", "map-key-format", "value-format")


def _java_class(text: str) -> str:
    if text.startswith("java."):
        return text
    error = ValueError(f"{text} is a class of Java, in which scurry runs nothing")
    error.add_note(f"{HINT}leave the option out: a savepoint of scurry has the types of its state")
    raise error


def _name_option(column: str) -> TableOption[str]:
    return TableOption(f"fields.{column}.state-name", str, None, "The name of its state, by default its own.")


def _kind_option(column: str) -> TableOption[str]:
    kinds = one_of((LIST, MAP, VALUE))
    return TableOption(f"fields.{column}.state-type", kinds, None, "The kind of its state, by default the stored one.")


def _java_options(column: str) -> list[TableOption[str]]:
    meaning = "A class of Java: savepoints of scurry have the types of their state."
    return [TableOption(f"fields.{column}.{name}", _java_class, None, meaning, without_effect=True) for name in OF_JAVA]


class SavepointFactory(TableFactory):
    """Make sources of the state in savepoints."""

    identifier = "savepoint"

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        primary = context.schema.get_primary_key()
        keys = () if primary is None else primary.columns
        found: list[TableOption[Any]] = list(OPTIONS)
        for name in (column.name for column in context.physical_columns):
            found += [] if name in keys else [_name_option(name), _kind_option(name)]
            found += _java_options(name)
        return found

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of the keys of an operator.

        Raises:
            SavepointError: There is no such savepoint, or others could have written it.
            StateNotFoundError: The savepoint has no such operator or state.
            UnsupportedError: The operator is one of SQL.
            ValidationError: Options are wrong, the table has not one column as its primary key, or a column has a type
                or kind that its state has not.
        """
        options = self.check(context)
        key = _key_column(context)
        uid, hashed = options.find(UID), options.find(UID_HASH)
        if (uid is None) == (hashed is None):
            raise ValidationError("Either operator uid or operator uid hash must be specified.").with_hint(
                "set one of 'operator.uid' and 'operator.uid.hash'; `scurry savepoint inspect` lists the operators"
            )
        path, allowed = options.get(PATH), options.get(ALLOW_UNTRUSTED)
        metadata = open_savepoint(path, allowed, compare=False).metadata
        uid = _uid_of(hashed, metadata, path) if uid is None else uid
        operator = the_operator(metadata, uid, path)
        if ROWS in operator.states:
            raise UnsupportedError(
                f"operator {uid!r} of savepoint {path} is one of SQL, which keeps rows in its own arrangement: tables "
                "read the state of functions of the DataStream API"
            ).with_hint("scurry.state.SavepointReader.read(path).keyed_state(uid) shows what it keeps")
        names = StateNames(uid, operator)
        columns = [
            _key(column, uid, operator) if column.name == key else _state(column, uid, operator, names, options)
            for column in context.physical_columns
        ]
        return SavepointSource(
            path,
            uid,
            tuple(columns),
            names.lifetimes,
            metadata.created_ms,
            metadata.max_parallelism,
            allowed,
            names.are_known,
        )


def _key_column(context: TableContext) -> str:
    primary = context.schema.get_primary_key()
    if primary is None:
        raise ValidationError("Could not find the primary key in the table schema.").with_hint(_ONE_KEY)
    if len(primary.columns) != 1:
        raise ValidationError("Only a single primary key must be defined in the table schema.").with_hint(_ONE_KEY)
    return primary.columns[0]


def _uid_of(hashed: str | None, metadata: SavepointMetadata, path: str) -> str:
    hashes = {uid_hash(uid): uid for uid in metadata.operators}
    wanted = (hashed or "").lower()
    if wanted not in hashes:
        close = similar_name(wanted, hashes)
        listed = ", ".join(f"{each} ({uid!r})" for each, uid in hashes.items()) or "none"
        hint = f"did you mean {close!r}?" if close else ""
        raise StateNotFoundError(
            f"savepoint {path} has no operator whose uid has the hash {hashed!r}. There are: {listed}"
        ).with_hint(hint)
    return hashes[wanted]


def _key(column: FormatColumn, uid: str, operator: OperatorState) -> StateColumn:
    described = operator.states.get(KEY)
    if described is not None:
        _check_type(column, f"the keys of operator {uid!r} are", described)
    return StateColumn(column.name, column.type)


def _state(column: FormatColumn, uid: str, operator: OperatorState, names: StateNames, options: Options) -> StateColumn:
    kind_option = _kind_option(column.name)
    state = options.find(_name_option(column.name)) or column.name
    names.require(state)
    described = operator.states.get(state)
    kind, wanted = kind_of(described, column.type), options.find(kind_option)
    if described is not None:
        if described["kind"] in _WITHOUT_TABLES:
            raise UnsupportedError(
                f"state {state!r} of operator {uid!r} is that of windows or patterns, of which tables show nothing"
            ).with_hint("scurry.state.SavepointReader.read(path).window_state(uid) shows open windows")
        if wanted not in (None, kind):
            raise ValidationError(
                f"'{kind_option.key}' = '{wanted}', and state {state!r} of operator {uid!r} is a {described['kind']} "
                f"state."
            ).with_hint(f"leave the option out, or say '{kind}'")
        _check_type(column, f"state {state!r} of operator {uid!r} has values of", described)
    return StateColumn(column.name, column.type, state, kind if wanted is None else wanted)


def _check_type(column: FormatColumn, has: str, described: dict[str, Any]) -> None:
    stored = stored_type(described["type"])
    if not fits(stored, column.type):
        declared, shown = (each.nullable().as_summary_string() for each in (column.type, stored))
        raise ValidationError(f"Column '{column.name}' is {declared}, and {has} type {shown}.").with_hint(
            f"declare it as {shown}, or as STRING, which shows any value as JSON"
        )
