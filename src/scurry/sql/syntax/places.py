"""The places of errors in statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher

from scurry.common.redaction import without_secrets
from scurry.errors import ScurryError
from scurry.errors.table import StatementPlace
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span


def place_of(span: Span, file: str = "", before: int = 0) -> StatementPlace | None:
    """Return where a span is, in the text without its secrets; None if it is not known.

    Args:
        file: The script that the text is from; empty if it is from none.
        before: How many lines of the script come before the text.
    """
    if not span.text:
        return None
    shown = without_secrets(span.text)
    start, end = span.start, span.end
    if shown != span.text:
        blocks = SequenceMatcher(None, span.text, shown, autojunk=False).get_matching_blocks()
        start, end = (_moved(offset, blocks) for offset in (start, end))
    return StatementPlace(shown, start, end, file, before)


def _moved(offset: int, blocks: Sequence[tuple[int, int, int]]) -> int:
    """Return where a character of a text is in another, of which some stretches are the same."""
    before = [(old, new, size) for old, new, size in blocks if old <= offset]
    if not before:
        return 0
    old, new, size = before[-1]
    return new + min(offset - old, size)


@contextmanager
def failing_in(statement: nodes.Statement, script: str = "", lines_before: int = 0) -> Iterator[None]:
    """Give the errors of a block the place in a statement that they are about.

    That is the part that an error names, else the table that it names, else the whole statement.

    Args:
        script: The file that the statement is from; empty if it is from none.
        lines_before: How many lines of the script come before the text that the statement is from.
    """
    try:
        yield
    except ScurryError as error:
        if error.statement is None:
            error.statement = place_of(_span(error, statement), script, lines_before)
        raise


def _span(error: ScurryError, statement: nodes.Statement) -> Span:
    own = getattr(error, "span", None)
    if isinstance(own, Span) and own.text == statement.span.text and own.end > own.start:
        return own
    if about := getattr(error, "about", "").upper():
        for node in _below(statement):
            if isinstance(node, nodes.Identifier) and node.last.upper() == about and node.span.text:
                return node.span
    if not isinstance(statement, nodes.Query | nodes.Insert):
        named = next((each for each in nodes.children(statement) if isinstance(each, nodes.Identifier)), None)
        if named is not None and named.span.text == statement.span.text:
            return named.span
    return _first_word(statement.span)


def _first_word(span: Span) -> Span:
    word = re.match(r"\w*", span.source)
    return Span(span.text, span.start, span.start + max(word.end() if word else 0, 1)) if span.text else span


def _below(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    for child in nodes.children(node):
        yield from _below(child)
