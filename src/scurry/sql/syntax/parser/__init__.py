"""Text to syntax tree.

The grammar is that of Flink 2.3, parsed by recursive descent without going back: where Flink's parser looks some tokens
ahead, this one does too, so that both stop at the same token of a wrong statement.

A rule is a function that takes the parser, which has the tokens and a position among them; a module has the rules of a
subject. Modules import what their rules call, and stand above it. The grammar is recursive, so two rules are called
from below as well, through the parser: operations, as ``Parser.expression``, and ``Parser.select``.
"""

# Not sqlglot's: errors have the texts of Calcite, and each node the place of its tokens.
from __future__ import annotations

from scurry.sql.syntax.parser.entry import parse, parse_expression, parse_path, parse_statements

__all__ = ["parse", "parse_expression", "parse_path", "parse_statements"]
