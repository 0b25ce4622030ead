"""Functions of models in FROM: `ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(columns), MAP['async', 'true'])`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from scurry.errors import UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.functions.signatures import standard_name
from scurry.sql.plan.models import MLPredict, PlannedModel
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.schema import Schema
from scurry.sql.planner.explain.types import record_text
from scurry.sql.syntax import nodes
from scurry.sql.types import CharType, DataType, MapType, VarCharType
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.from_clause.window_tables import FromItemOf, argument_table
from scurry.sql.validator.scope import Scope

_PARAMETERS = ("INPUT", "MODEL", "ARGS", "CONFIG")
_SIGNATURE = (
    "ML_PREDICT(INPUT => {TABLE, ROW SEMANTIC TABLE}, MODEL => {MODEL}, ARGS => DESCRIPTOR, CONFIG => MAP<STRING, "
    "STRING>)"
)


def is_model_function(call: nodes.Call) -> bool:
    return call.name.is_simple and call.name.last.upper() in ("ML_PREDICT", "ML_EVALUATE")


def predicted(call: nodes.Call, environment: Environment, item: FromItemOf) -> Plan:
    """Return the plan of a call of ML_PREDICT.

    Args:
        environment: Where it stands.
        item: Validates the table among the arguments.

    Raises:
        ValidationError: The arguments are wrong.
        UnsupportedError: It is ML_EVALUATE, which Flink parses and cannot plan.
    """
    if call.name.last.upper() == "ML_EVALUATE":
        raise UnsupportedError(
            "ML_EVALUATE is not supported: Flink 2.3 parses it, and has no plan for it, either"
        ).with_hint("compare what ML_PREDICT returns with the labels: AVG(CASE WHEN predicted = label THEN 1.0 ...)")
    given = _given(call)
    model = None if "MODEL" not in given else _model(given["MODEL"], environment)
    table = given.get("INPUT")
    if isinstance(table, nodes.Subquery):
        table = nodes.TableArgument(span=table.span, table=table.query)
    plan = None
    if isinstance(table, nodes.TableArgument):
        if table.partition_by or table.order_by:
            verb, clause = ("partitioned", "PARTITION BY") if table.partition_by else ("ordered", "ORDER BY")
            raise invalid(
                call.span,
                f"Only tables with set semantics may be {verb}. Invalid {clause} clause in the 0-th operand of table "
                "function 'ML_PREDICT'",
            )
        plan = argument_table(table, environment, item)
    features, config = given.get("ARGS"), given.get("CONFIG")
    validator = ExpressionValidator(Scope(Schema(), ()), environment)
    fits = plan is not None and model is not None and isinstance(features, nodes.Descriptor)
    fits &= given.keys() <= set(_PARAMETERS)
    config_type = None if config is None else validator.convert(config).type
    if not fits or (config is not None and not isinstance(config_type, MapType)):
        raise _no_match(call, plan, model, validator)
    assert plan is not None and model is not None and isinstance(features, nodes.Descriptor)
    places = _features(call, features, plan, model)
    names = _names(call, plan.schema.names, model.outputs.names)
    return MLPredict(plan, model, places, None if config is None else _config(call, config, config_type), names)


def _given(call: nodes.Call) -> dict[str, nodes.Expression]:
    """Return the arguments by name, without those that are DEFAULT; one too many is there under its number."""
    found: dict[str, nodes.Expression] = {}
    for place, argument in enumerate(call.arguments):
        if isinstance(argument, nodes.NamedArgument):
            name, value = argument.name.last.upper(), argument.value
            if name not in _PARAMETERS:
                hint = did_you_mean(name, _PARAMETERS)
                raise invalid(argument.span, f"ML_PREDICT has no argument '{argument.name.last}'").with_hint(hint)
        else:
            name, value = (_PARAMETERS[place] if place < len(_PARAMETERS) else str(place)), argument
        found[name] = value
    return {name: value for name, value in found.items() if not isinstance(value, nodes.Default)}


def _model(given: nodes.Expression, environment: Environment) -> PlannedModel | None:
    if not isinstance(given, nodes.ModelArgument):
        return None
    found = environment.catalog.find_model(given.name.names)
    if found is None:
        raise invalid(given.name.span, f"Object '{given.name.last}' not found").with_hint(
            environment.catalog.similar_model(given.name.names)
            or f"models are made with CREATE MODEL {given.name.last} ..."
        )
    return found


def _no_match(
    call: nodes.Call, plan: Plan | None, model: PlannedModel | None, validator: ExpressionValidator
) -> ValidationError:
    shown = []
    for argument in call.arguments:
        value = argument.value if isinstance(argument, nodes.NamedArgument) else argument
        if isinstance(value, nodes.TableArgument | nodes.Subquery):
            shown.append("TABLE" if plan is None else record_text(plan.schema))
        elif isinstance(value, nodes.ModelArgument):
            shown.append("MODEL" if model is None else record_text(model.outputs))
        else:
            is_list = isinstance(value, nodes.Descriptor)
            shown.append("COLUMN_LIST" if is_list else standard_name(validator.convert(value).type))
    listed = ", ".join(f"<{each}>" for each in shown)
    return invalid(
        call.span,
        f"No match found for function signature ML_PREDICT({listed}).\nSupported signatures are:\n{_SIGNATURE}",
    )


def _features(call: nodes.Call, features: nodes.Descriptor, plan: Plan, model: PlannedModel) -> tuple[int, ...]:
    names, wanted = plan.schema.names, model.inputs
    if len(features.columns) != len(wanted):
        _refuse(
            call,
            f"Number of descriptor columns ({len(features.columns)}) does not match model input size ({len(wanted)}).",
        )
    places = []
    for position, column in enumerate(features.columns):
        if column.last not in names:
            _refuse(
                call,
                f"Descriptor column '{column.last}' not found in table columns. Available columns: {', '.join(names)}.",
                did_you_mean(column.last, names),
            )
        place = names.index(column.last)
        given, taken = plan.schema[place].type, wanted[position].type
        if not supports_implicit_cast(given, taken):
            _refuse(
                call,
                f"Descriptor column '{column.last}' type {given.as_summary_string()} cannot be assigned to model input "
                f"type {taken.as_summary_string()} at position {position}.",
                f"give the model a column of the type: ML_PREDICT((SELECT ..., CAST({column.last} AS "
                f"{taken.nullable().as_summary_string()}) AS {column.last} FROM ...), ...)",
            )
        places.append(place)
    return tuple(places)


def _names(call: nodes.Call, before: Sequence[str], outputs: Sequence[str]) -> tuple[str, ...]:
    """Return the names of all columns: an output column with the name of an input column gets a 0, as in Flink."""
    added = [f"{name}0" if name in before else name for name in outputs]
    names = [*before, *added]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        _refuse(call, f"Field names must be unique. Found duplicates: [{', '.join(twice)}]")
    return tuple(names)


def _config(call: nodes.Call, config: nodes.Expression, found: DataType | None) -> tuple[tuple[str, str], ...]:
    assert isinstance(found, MapType)
    if not all(isinstance(each, CharType | VarCharType) for each in (found.key_type, found.value_type)):
        _refuse(
            call,
            f"Invalid argument type at position 3. Data type MAP<STRING, STRING> expected but "
            f"{found.as_summary_string()} passed.",
            "write the values as texts: MAP['async', 'true']",
        )
    values = config.values if isinstance(config, nodes.MapConstructor) else ()
    literals = [each for each in values if isinstance(each, nodes.StringLiteral)]
    if len(literals) != len(values) or not values:
        raise invalid(config.span, "Config param should be a MAP data type consisting of String literals.")
    return tuple((key.value, value.value) for key, value in zip(literals[::2], literals[1::2], strict=True))


def _refuse(call: nodes.Call, message: str, hint: str = "") -> NoReturn:
    error = ValidationError(f"SQL validation failed. {message}\nInvalid function call: {_SIGNATURE}")
    error.span = call.span
    raise error.with_hint(hint)
