"""Calls of process table functions as EXPLAIN shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.process_tables import ProcessTableFunction


def process_text(plan: ProcessTableFunction, text: Callable[[Expression], str]) -> str:
    """Return the attributes of a node.

    Args:
        plan: The node.
        text: Returns the text of an expression.
    """
    columns = ", ".join(f"{each.type.as_summary_string()} {each.name}" for each in plan.schema)
    arguments = ", ".join(_arguments(plan, text))
    return (
        f"invocation=[{plan.function.name}({arguments})], uid=[{plan.uid}], select=[{','.join(plan.schema.names)}], "
        f"rowType=[RecordType({columns})]"
    )


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
