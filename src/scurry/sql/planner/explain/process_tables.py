"""Calls of process table functions as EXPLAIN shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scurry.sql.plan.changelog_functions import ChangelogFunction, ToChangelog
from scurry.sql.plan.expressions import Expression, Literal
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.plan.rewriting import walk_expression
from scurry.sql.planner.explain.types import record_text, type_text
from scurry.sql.types import VarCharType


def process_text(plan: ProcessTableFunction, text: Callable[[Expression], str]) -> str:
    """Return the attributes of a node."""
    columns = ", ".join(f"{each.type.as_summary_string()} {each.name}" for each in plan.schema)
    arguments = ", ".join(_arguments(plan, text))
    return (
        f"invocation=[{plan.function.name}({arguments})], uid=[{plan.uid}], select=[{','.join(plan.schema.names)}], "
        f"rowType=[RecordType({columns})]"
    )


def changelog_function_text(plan: ChangelogFunction) -> str:
    """Return the call of TO_CHANGELOG or FROM_CHANGELOG, and the type of its rows."""
    return f"{_invocation(plan)}, rowType=[{record_text(plan.schema)}]"


def physical_changelog_function_text(plan: ChangelogFunction) -> str:
    """Return the attributes of the operator of TO_CHANGELOG or FROM_CHANGELOG, which needs no identifier."""
    return (
        f"{_invocation(plan)}, uid=[{plan.uid or 'null'}], select=[{','.join(plan.schema.names)}], "
        f"rowType=[{record_text(plan.schema)}]"
    )


def _invocation(plan: ChangelogFunction) -> str:
    name = "TO_CHANGELOG" if isinstance(plan, ToChangelog) else "FROM_CHANGELOG"
    op = "DEFAULT()" if plan.op is None else f"DESCRIPTOR(_UTF-16LE'{plan.op}')"
    mapping = "DEFAULT()" if plan.mapping is None else _map_text(plan.mapping)
    time = "DEFAULT()" if plan.time is None else f"DESCRIPTOR(_UTF-16LE'{plan.input.schema.names[plan.time]}')"
    uid = "DEFAULT()" if plan.uid is None else f"_UTF-16LE'{plan.uid}'"
    return f"invocation=[{name}(TABLE(#0), {op}, {mapping}, {time}, {uid})]"


def _map_text(mapping: Expression) -> str:
    """Return the text of a MAP of constants, whose keys and values have the type of the longest one."""
    texts = [each.value for each in walk_expression(mapping) if isinstance(each, Literal)]
    lengths = [{len(each) for each in part} for part in (texts[::2], texts[1::2])]
    types = ["" if len(each) == 1 else f":{type_text(VarCharType(max(each)))}" for each in lengths]
    shown = (f"_UTF-16LE'{text}'{types[place % 2]}" for place, text in enumerate(texts))
    return f"MAP({', '.join(shown)})"


def _arguments(plan: ProcessTableFunction, text: Callable[[Expression], str]) -> Iterator[str]:
    tables, scalars = iter(enumerate(plan.tables)), iter(plan.scalars)
    for argument in plan.signature.arguments:
        if not argument.is_table:
            yield text(next(scalars))
            continue
        place, table = next(tables)
        keys = ", ".join(f"${key}" for key in table.partition_by)
        yield f"TABLE(#{place}){f' PARTITION BY({keys})' if keys else ''}"
    times = [
        source.schema.names[table.time]
        for source, table in zip(plan.sources, plan.tables, strict=False)
        if table.time is not None
    ]
    shown = ", ".join(f"_UTF-16LE'{name}'" for name in dict.fromkeys(times))
    yield f"DESCRIPTOR({shown})" if times else "DEFAULT()"
    yield f"_UTF-16LE'{plan.uid}'"
