"""CALL and SHOW PROCEDURES."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scurry.errors import DatabaseNotExistError, ScurryError, UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.catalog import Catalog
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.procedures import REQUIRED, CatalogProcedure, ProcedureArgument, ProcedureSignature
from scurry.sql.evaluation.batch.executor import execute_batch
from scurry.sql.functions.forms import no_signature
from scurry.sql.plan import builders, calls
from scurry.sql.plan.expressions import Expression, Literal
from scurry.sql.plan.nodes import Plan
from scurry.sql.statements.names import filtered, qualified
from scurry.sql.statements.queries import plan_query
from scurry.sql.statements.results import StatementResult, names_result, table_result
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.syntax.nodes.base import walk
from scurry.sql.syntax.span import Span
from scurry.sql.types import DataType, NullType, RowType
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.types.values import to_values
from scurry.sql.values.arguments import python_values
from scurry.sql.values.results import ResultColumn


def show_procedures(session: TableSession, statement: nodes.ShowProcedures) -> StatementResult:
    """List the procedures of a database."""
    catalogs, scope = session.catalogs, statement.scope
    if scope is None:
        catalog, database = catalogs.current_catalog, catalogs.current_database
    elif len(scope.name.names) > 2:
        raise ValidationError(
            f"SHOW PROCEDURES from/in identifier [ {'.'.join(scope.name.names)} ] format error, it should be "
            "[catalog_name.]database_name."
        )
    else:
        catalog, database = catalogs.qualify_database(scope.name.names)
    _check_has_procedures(catalogs.catalog(catalog), "listProcedures")
    try:
        names = catalogs.catalog(catalog).list_procedures(database)
    except DatabaseNotExistError:
        raise DatabaseNotExistError(
            f"Fail to show procedures because the Database `{database}` to show from/in does not exist in Catalog "
            f"`{catalog}`."
        ) from None
    return names_result("procedure name", filtered(names, statement.like))


def call_procedure(session: TableSession, statement: nodes.CallProcedure) -> StatementResult:
    """Run a procedure; its results are the rows.

    Raises:
        ValidationError: No procedure takes these arguments, or its code raised an error.
        TypeMismatchError: It returned what does not fit its type.
        UnsupportedError: The catalog has no procedures.
    """
    call = statement.call
    identifier = qualified(session, call.name)
    _check_has_procedures(session.catalogs.find_catalog(identifier.catalog), "SQL validation failed. getProcedure")
    given = [each.value if isinstance(each, nodes.NamedArgument) else each for each in call.arguments]
    if any(isinstance(part, nodes.Query) for each in given for part in walk(each)):
        raise ValidationError(f"the arguments of CALL {identifier.name} are values, not queries")
    written = [each for each in given if isinstance(each, nodes.Expression) and not _is_null(each)]
    arguments = builders.one_row()
    if written:
        arguments = plan_query(session, nodes.Select(tuple(map(nodes.SelectItem, written)), span=call.span))
    references = iter(builders.columns(arguments))
    columns = [Literal(None, NullType()) if _is_null(each) else next(references) for each in given]
    signature, values = _Call(session, identifier, call, arguments, columns).resolved()
    return _result(signature, _rows(signature, values, identifier))


def _check_has_procedures(catalog: Catalog | None, wanted: str) -> None:
    """Refuse a catalog without procedures, as Flink does those that cannot have any.

    Raises:
        UnsupportedError: The catalog has no procedure.
    """
    if catalog is not None and not catalog.procedures:
        raise UnsupportedError(f"{wanted} is not implemented: catalog {catalog.name} has no procedures").with_hint(
            "a program adds one with t_env.create_procedure(name, function)"
        )


class _Call:
    """A call whose arguments are columns of a plan of one row, or NULL."""

    def __init__(
        self,
        session: TableSession,
        identifier: ObjectIdentifier,
        call: nodes.Call,
        row: Plan,
        given: Sequence[Expression],
    ) -> None:
        self._session = session
        self._identifier = identifier
        self._row = row
        self._given = given
        self._types = [each.type for each in given]
        self._names = [each.name for each in call.arguments if isinstance(each, nodes.NamedArgument)]
        self._span = Span(call.span.text, call.name.part_spans[-1].start, call.span.end)
        if self._names and len(self._names) < len(call.arguments):
            raise ValidationError(f"the arguments of CALL {identifier.name} have names: all of them, or none")

    def resolved(self) -> tuple[ProcedureSignature, list[Any]]:
        """Return the signature that is called, and the context and arguments for its function.

        Raises:
            ValidationError: No procedure takes the arguments.
        """
        catalog = self._session.catalogs.find_catalog(self._identifier.catalog)
        procedure = None if catalog is None else catalog.find_procedure(*self._path)
        if procedure is None:
            known = [] if catalog is None else [name for place, name in catalog.procedures if place == self._path[0]]
            raise self._no_match(self._types).with_hint(did_you_mean(self._identifier.name, known))
        places = self._places(procedure)
        for signature, columns in places:
            wanted = [_argument(signature, place).data_type for place in range(len(columns))]
            pairs = zip(columns, wanted, strict=True)
            if all(column is None or _takes(kind, self._types[column]) for column, kind in pairs):
                return signature, [procedure.context(), *self._values(signature, columns, wanted)]
        raise self._wrong_types(procedure)

    @property
    def _path(self) -> tuple[str, str]:
        return self._identifier.database, self._identifier.name

    def _places(self, procedure: CatalogProcedure) -> list[tuple[ProcedureSignature, list[int | None]]]:
        """Return, for each signature that takes so many arguments, the column of each argument; None is its default."""
        if self._names:
            return [self._named(procedure)]
        found = []
        for signature in procedure.signatures:
            required = [each.default is REQUIRED for each in signature.arguments[: -1 if signature.variadic else None]]
            most = len(self._types) if signature.variadic else len(signature.arguments)
            count = sum(required)
            if count <= len(self._types) <= most and all(required[:count]):
                columns: list[int | None] = [*range(len(self._types))]
                fixed = len(signature.arguments) - signature.variadic
                found.append((signature, [*columns, *[None] * (fixed - len(columns))]))
        if not found:
            raise self._no_match(self._types, procedure)
        return found

    def _named(self, procedure: CatalogProcedure) -> tuple[ProcedureSignature, list[int | None]]:
        if len(procedure.signatures) > 1 or procedure.signatures[0].variadic:
            raise calls.refused(None, "Unsupported function signature. Function must not be overloaded or use varargs.")
        (signature,) = procedure.signatures
        known = [each.name for each in signature.arguments]
        given = [each.last for each in self._names]
        unknown = next((each for each in self._names if each.last not in known), None)
        if unknown is not None:
            message = f"Param '{unknown.last}' not found in function '{self._identifier.name}'"
            raise calls.refused(unknown.span, message).with_hint(did_you_mean(unknown.last, known))
        columns = [given.index(name) if name in given else None for name in known]
        pairs = zip(columns, signature.arguments, strict=True)
        missing = any(column is None and each.default is REQUIRED for column, each in pairs)
        if missing or len(set(given)) < len(given):
            kinds = [self._types[column] for column in columns if column is not None]
            raise self._no_match(kinds, procedure)
        return signature, columns

    def _values(
        self, signature: ProcedureSignature, columns: Sequence[int | None], wanted: Sequence[DataType]
    ) -> list[Any]:
        """Return the arguments as values of Python."""
        functions = self._session.for_functions()
        used = [(column, kind) for column, kind in zip(columns, wanted, strict=True) if column is not None]
        converted = [calls.converted(self._given[each], kind, functions) for each, kind in used]
        plan = builders.project(self._row, converted, [f"a{place}" for place in range(len(used))])
        given: list[Any] = []
        if used:
            (batch,) = execute_batch(plan, functions, lambda scan: iter(()))
            pairs = zip(batch.columns, [kind for _, kind in used], strict=True)
            given = [python_values(column, kind, functions.time_zone)[0] for column, kind in pairs]
        defaults = (_argument(signature, place).default for place, column in enumerate(columns) if column is None)
        taken = iter(given)
        return [next(defaults) if column is None else next(taken) for column in columns]

    def _no_match(self, kinds: Sequence[DataType], procedure: CatalogProcedure | None = None) -> ValidationError:
        name = self._identifier.name
        message = no_signature(name, kinds)
        if procedure is not None:
            signatures = [each.text(name) for each in procedure.signatures]
            message = "\n".join([f"{message}.", "Supported signatures are:", *signatures])
        return calls.refused(self._span, message)

    def _wrong_types(self, procedure: CatalogProcedure) -> ValidationError:
        name = ".".join([self._identifier.catalog, *self._path])
        shown = ", ".join(each.as_summary_string() for each in self._types)
        signatures = "\n".join(each.text(name) for each in procedure.signatures)
        return calls.refused(
            None,
            f"Invalid function call:\n{name}({shown})\nInvalid input arguments. Expected signatures are:\n{signatures}",
        )


def _is_null(node: nodes.Node) -> bool:
    return isinstance(node, nodes.NullLiteral)


def _argument(signature: ProcedureSignature, place: int) -> ProcedureArgument:
    return signature.arguments[min(place, len(signature.arguments) - 1)]


def _takes(wanted: DataType, given: DataType) -> bool:
    if isinstance(given, NullType):
        return wanted.is_nullable
    return supports_implicit_cast(given, wanted)


def _rows(signature: ProcedureSignature, values: Sequence[Any], identifier: ObjectIdentifier) -> list[Any]:
    """Return the results of a procedure as values of a column."""
    try:
        results: Iterable[Any] = signature.function(*values)
        found = list(results)
        return to_values(ResultColumn(signature.result_type)(found))
    except ScurryError:
        raise
    except Exception as error:
        message = f"procedure {identifier}: The call method caused an error: {type(error).__name__}: {error}"
        raise ValidationError(message) from error


def _result(signature: ProcedureSignature, rows: Sequence[Any]) -> StatementResult:
    kind = signature.result_type
    if isinstance(kind, RowType):
        columns = list(zip(kind.field_names(), kind.field_types(), strict=True))
        return table_result(columns, [(None,) * len(columns) if row is None else tuple(row) for row in rows])
    return table_result([("result", kind)], [(row,) for row in rows])
