"""Text to syntax tree.

The grammar is that of Flink 2.3, parsed by recursive descent without going back: where Flink's parser looks some tokens
ahead, this one does too, so that both stop at the same token of a wrong statement. Classes are stacked by subject, from
``cursor.Cursor`` to ``statements.StatementParser``.
"""

from __future__ import annotations

from scurry.sql.syntax.parser.entry import parse, parse_expression, parse_path, parse_statements

__all__ = ["parse", "parse_expression", "parse_path", "parse_statements"]
