"""TO_CHANGELOG and FROM_CHANGELOG in FROM: `TO_CHANGELOG(input => TABLE t, op => DESCRIPTOR(kind))`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scurry.common.types import RowKind
from scurry.errors import ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.functions.user.process import ArgumentTrait, DeclaredArgument
from scurry.sql.plan.changelog_functions import OP, FromChangelog, ToChangelog
from scurry.sql.plan.expressions import Call, Expression, Literal
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.syntax import nodes
from scurry.sql.types import CharType, DataType, MapType, NullType, VarCharType
from scurry.sql.types.families import STRING
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.from_clause.window_tables import FromItemOf, argument_table
from scurry.sql.validator.functions.process_tables import identifier_of, names_of, rowtime_of, time_of
from scurry.sql.validator.scope import Scope

_ARGUMENTS = ("input", "op", "op_mapping", "on_time", "uid")
_INPUTS = {
    "TO_CHANGELOG": "{TABLE, ROW SEMANTIC TABLE, SUPPORT UPDATES, REQUIRE UPDATE BEFORE, REQUIRE FULL DELETE}",
    "FROM_CHANGELOG": "{TABLE, ROW SEMANTIC TABLE}",
}
_KINDS = {kind.name: kind.value for kind in RowKind}
_VALID = ", ".join(sorted(_KINDS))


def is_changelog_function(call: nodes.Call) -> bool:
    return len(call.name.names) == 1 and call.name.last.upper() in _INPUTS


def changelog_function(call: nodes.Call, environment: Environment, item: FromItemOf) -> Plan:
    """Return the plan of a call.

    Args:
        environment: Where it stands.
        item: Validates the table among the arguments.

    Raises:
        ValidationError: The arguments are wrong.
    """
    name = call.name.last.upper()
    given = _given(call, name)
    source = _input(call, name, given.get("input"), environment, item)
    validator = ExpressionValidator(Scope(Schema(), ()), environment)
    mapping = _mapping(given.get("op_mapping"), validator)
    failed = _Failure(call, name, source, given, mapping)
    op = _op(given.get("op"), failed)
    time = _time(source, names_of(call, given.get("on_time")))
    uid = identifier_of(given["uid"], validator) if "uid" in given else None
    parts = (source, op, mapping, time, uid, failed)
    return _to_changelog(*parts) if name == "TO_CHANGELOG" else _from_changelog(*parts)


#: The argument of the table, as errors name it.
_TABLE = DeclaredArgument("input", frozenset({ArgumentTrait.ROW_SEMANTIC_TABLE}))


class _Failure:
    """Makes the error of a call that Flink's functions themselves refuse."""

    def __init__(
        self,
        call: nodes.Call,
        name: str,
        source: Plan,
        given: Mapping[str, nodes.Expression],
        mapping: Expression | None,
    ) -> None:
        fields = ", ".join(f"`{each.name}` {each.type.as_summary_string()}" for each in source.schema)
        descriptors = [f"DESCRIPTOR{' NOT NULL' if each in given else ''}" for each in ("op", "on_time")]
        shown = "MAP<STRING, STRING>" if mapping is None else mapping.type.as_summary_string()
        self._call = f"{name}(ROW<{fields}> NOT NULL, {descriptors[0]}, {shown}, {descriptors[1]}, STRING)"
        self._expected = f"Invalid input arguments. Expected signatures are:\n{_signature(name)}\n"
        self._span = call.span

    def __call__(self, message: str, hint: str = "", is_of_arguments: bool = True) -> ValidationError:
        """Return the error with a message.

        Args:
            message: What is wrong.
            hint: What to do instead.
            is_of_arguments: Whether Flink shows the signatures.
        """
        expected = self._expected if is_of_arguments else ""
        error = ValidationError(f"SQL validation failed. Invalid function call:\n{self._call}\n{expected}{message}")
        error.span = self._span
        return error.with_hint(hint)


def _signature(name: str) -> str:
    return (
        f"{name}(input => {_INPUTS[name]}, op => DESCRIPTOR, op_mapping => MAP<STRING, STRING>, on_time => DESCRIPTOR, "
        "uid => STRING)"
    )


def _given(call: nodes.Call, name: str) -> dict[str, nodes.Expression]:
    """Return the arguments by name, without those that are DEFAULT or NULL."""
    found: dict[str, nodes.Expression] = {}
    for place, argument in enumerate(call.arguments):
        if isinstance(argument, nodes.NamedArgument):
            key, value = argument.name.last, argument.value
        else:
            key, value = _ARGUMENTS[place] if place < len(_ARGUMENTS) else "", argument
        if key not in _ARGUMENTS or key in found:
            raise invalid(
                argument.span, f"{name} does not take this argument; its arguments are: {', '.join(_ARGUMENTS)}"
            ).with_hint(did_you_mean(key, _ARGUMENTS))
        found[key] = value
    if not found:
        raise invalid(
            call.span, f"No match found for function signature {name}().\nSupported signatures are:\n{_signature(name)}"
        )
    return {key: value for key, value in found.items() if not isinstance(value, nodes.Default | nodes.NullLiteral)}


def _input(
    call: nodes.Call, name: str, given: nodes.Expression | None, environment: Environment, item: FromItemOf
) -> Plan:
    if isinstance(given, nodes.Subquery):
        given = nodes.TableArgument(span=given.span, table=given.query)
    if not isinstance(given, nodes.TableArgument):
        span = call.span if given is None else given.span
        raise invalid(span, "Invalid argument value. Argument 'input' expects a table to be passed.").with_hint(
            f"write {name}(input => TABLE t)"
        )
    if given.partition_by or given.order_by:
        verb, clause = ("partitioned", "PARTITION BY") if given.partition_by else ("ordered", "ORDER BY")
        raise invalid(
            call.span,
            f"Only tables with set semantics may be {verb}. Invalid {clause} clause in the 0-th operand of table "
            f"function '{name}'",
        )
    return argument_table(given, environment, item)


def _op(given: nodes.Expression | None, failed: _Failure) -> str | None:
    if given is None:
        return None
    if not isinstance(given, nodes.Descriptor):
        raise invalid(given.span, "The argument 'op' is a DESCRIPTOR of one column").with_hint(
            "write op => DESCRIPTOR(column)"
        )
    if len(given.columns) != 1:
        raise failed("The descriptor for argument 'op' must contain exactly one column name.")
    return given.columns[0].last


def _time(source: Plan, names: Sequence[str]) -> int | None:
    unknown = [each for each in names if each not in source.schema.names]
    if unknown:
        raise ValidationError(
            "Invalid time attribute declaration. Each column in the `on_time` argument must reference at least one "
            f"column in one of the table arguments. Unknown references: [{', '.join(unknown)}]"
        )
    return time_of(_TABLE, source.schema, names)


def _mapping(given: nodes.Expression | None, validator: ExpressionValidator) -> Expression | None:
    if given is None:
        return None
    value = validator.convert(given)
    if not isinstance(value.type, MapType | NullType):
        raise invalid(
            given.span, f"The argument 'op_mapping' is a MAP<STRING, STRING>, not {value.type.as_summary_string()}"
        ).with_hint("write op_mapping => MAP['INSERT', 'I', ...]")
    return None if _without_casts(value) == Literal(None, NullType()) else value


def _without_casts(value: Expression) -> Expression:
    while isinstance(value, Call) and value.function == "CAST":
        (value,) = value.arguments
    return value


def _entries(mapping: Expression, failed: _Failure) -> dict[str, str]:
    """Return the entries of `op_mapping`; of those with the same key the last one."""
    parts = mapping.arguments if isinstance(mapping, Call) and mapping.function == "MAP" else (None,)
    texts = [_text(each) for each in parts]
    if None in texts:
        raise failed("The 'op_mapping' argument must be a constant MAP literal.")
    found: list[Any] = texts
    return dict(zip(found[::2], found[1::2], strict=True))


def _text(value: Expression | None) -> str | None:
    if value is None or not isinstance(value.type, CharType | VarCharType):
        return None
    value = _without_casts(value)
    return value.value if isinstance(value, Literal) and isinstance(value.value, str) else None


def _parts(text: str) -> list[str]:
    """Return the parts of a list, as Java's `split(",")` has them."""
    parts = [each.strip() for each in text.split(",")]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def _kind(name: str, known: Iterable[int], failed: _Failure, hint: str = "") -> int:
    """Return the kind of a name, which must not be known yet."""
    problem = "Invalid target mapping for argument 'op_mapping'."
    if name not in _KINDS:
        raise failed(
            f"{problem} Unknown change operation: '{name}'. Valid values are: [{_VALID}].",
            did_you_mean(name.upper(), sorted(_KINDS)),
        )
    if _KINDS[name] in known:
        raise failed(f"{problem} Duplicate change operation: '{name}'.{hint}")
    return _KINDS[name]


def _to_changelog(
    source: Plan, op: str | None, mapping: Expression | None, time: int | None, uid: str | None, failed: _Failure
) -> Plan:
    code_of: dict[int, str] = {}
    for names, code in ({} if mapping is None else _entries(mapping, failed)).items():
        for name in _parts(names):
            code_of[_kind(name, code_of, failed)] = code
    codes = [(code, kind) for kind, code in code_of.items()] if mapping is not None else list(_KINDS.items())
    columns = [Column(op or OP, STRING), *source.schema]
    _check_names(columns, failed, "name the column of the kinds otherwise: op => DESCRIPTOR(kind)")
    return ToChangelog(source, tuple(codes), op, mapping, time, uid, _output(columns, source, time))


def _from_changelog(
    source: Plan, op: str | None, mapping: Expression | None, time: int | None, uid: str | None, failed: _Failure
) -> Plan:
    name = op or OP
    if name not in source.schema.names:
        raise failed(
            f"The op column '{name}' does not exist in the input schema.",
            did_you_mean(name, source.schema.names) or "op => DESCRIPTOR(column) names the column of the kinds",
        )
    data_type = source.schema[source.schema.names.index(name)].type
    if not isinstance(data_type, CharType | VarCharType):
        raise failed(f"The op column '{name}' must be of STRING type, but was '{data_type.as_summary_string()}'.")
    kind_of = dict(_KINDS) if mapping is None else _kinds_of_codes(_entries(mapping, failed), failed)
    if time is not None:
        raise ValidationError(
            "Time operations using the `on_time` argument are currently not supported for PTFs that consume or produce "
            "updates."
        )
    columns = [each for each in source.schema if each.name != name]
    _check_names(columns, failed, "give columns of the same name others")
    return FromChangelog(source, tuple(kind_of.items()), op, mapping, time, uid, Schema(tuple(columns)))


def _kinds_of_codes(entries: Mapping[str, str], failed: _Failure) -> dict[str, int]:
    found: dict[str, int] = {}
    hint = " Use comma-separated keys to map multiple codes to the same operation (e.g., MAP['c, r', 'INSERT'])."
    for codes, name in entries.items():
        kind = _kind(name.strip(), found.values(), failed, hint)
        for code in _parts(codes):
            if code in found:
                raise failed(f"Duplicate key {code} (attempted merging values {RowKind(found[code]).name} and {name})")
            found[code] = kind
    if RowKind.UPDATE_AFTER.value in found.values() and RowKind.UPDATE_BEFORE.value not in found.values():
        raise failed(
            "The 'op_mapping' must include UPDATE_BEFORE for retract mode. Upsert mode (without UPDATE_BEFORE) is not "
            "supported in this version.",
            "map the codes of updates to INSERT and those of rows that are replaced to DELETE, or read such changes "
            "with a format like 'debezium-json' or the connector 'upsert-kafka'",
        )
    return found


def _check_names(columns: Sequence[Column], failed: _Failure, hint: str) -> None:
    names = [each.name for each in columns]
    twice = list(dict.fromkeys(each for each in names if names.count(each) > 1))
    if twice:
        raise failed(f"Field names must be unique. Found duplicates: [{', '.join(twice)}]", hint, False)


def _output(columns: Sequence[Column], source: Plan, time: int | None) -> Schema:
    types: list[DataType] = [] if time is None else [source.schema[time].type]
    return Schema((*columns, *rowtime_of(types)))
