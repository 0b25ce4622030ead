"""Tables in notebooks."""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from scurry.sql.statements.display.values import shown_value

if TYPE_CHECKING:
    from scurry.sql.plan.nodes import Plan
    from scurry.sql.statements.session import TableSession

_ROWS = 20


def html_of(session: TableSession, plan: Plan) -> str:
    """Return the columns of a plan, and its first rows if its input ends."""
    from scurry.sql.statements.dataframes import first_rows
    from scurry.sql.statements.planning import is_bounded
    from scurry.sql.types.values import to_values

    head = "".join(
        f"<th>{escape(column.name)}<br><small>{escape(column.type.as_summary_string())}</small></th>"
        for column in plan.schema
    )
    if not is_bounded(session, plan):
        return _table(head, "", "the input has no end: execute() or to_data_stream() show its rows")
    rows = first_rows(session, plan, _ROWS + 1)
    texts = [shown_value(column.type, session.time_zone) for column in plan.schema]
    columns = [map(text, to_values(column)) for text, column in zip(texts, rows.columns, strict=True)]
    lines = [
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for cells in islice(zip(*columns, strict=True), _ROWS)
    ]
    return _table(head, "".join(lines), f"only the first {_ROWS} rows" if rows.num_rows > _ROWS else "")


def _table(head: str, body: str, note: str) -> str:
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
