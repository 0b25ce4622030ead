'''The catalogue of built-in functions and operators.

A family is a module of `operators` or `scalar` with a tuple `FUNCTIONS`; `catalogue.FAMILIES` names all families. An
entry says what a function takes and returns (`signatures`), and how its columns are computed (`kernels`):

    FUNCTIONS = (
        # A kernel of Arrow; NULL gives NULL. The result has the argument's type.
        ScalarFunction("UPPER", signature([CHARACTER], argument(0)), by_column(pc.utf8_upper)),
        # A function of values; STRING converts a CHAR, INT a SMALLINT; the result is null if an argument is.
        ScalarFunction("REPEAT", signature([STRING, INT], nullable(always(STRING))), by_value(repeat)),
        # With more arguments than one form: optional from the right, or the last one repeated.
        ScalarFunction("CONCAT_WS", signature([STRING, STRING], ..., variadic=True), by_value(concat_ws, nulls=True)),
    )

    def repeat(text: str, count: int) -> str:
        """REPEAT: ..."""
        return text * max(count, 0)

Values are those of `scurry.sql.types.values`: a DATE is an int of days, a TIMESTAMP an int in its column's unit,
a ROW a tuple, a MAP a list of pairs. Where the kernel depends on types or literals, write `bind(site, result_type)`
instead of `by_column` or `by_value`: it is called once per task, so that it can compile a pattern or choose a unit.
A function that does not need all of its arguments for all rows, as CASE, has `bind_lazily`.

Keywords in a function's syntax are arguments of type `SymbolType`, literals in upper case: `FLOOR(x TO DAY)` is
FLOOR(x, DAY), `TRIM(BOTH 'a' FROM x)` is TRIM(BOTH, 'a', x). A type after AS or RETURNING is `site.target`.

What cannot be computed for a value raises `EvaluationError` with Flink's message; arguments of wrong types raise
`SignatureError`. Functions are tested by name in `tests/sql/functions`, and all at once against what Flink has answered
in `tests/sql/functions/test_function_conformance.py`; `python tests/sql/functions/corpus.py "string/*"` shows what
differs.
'''

from __future__ import annotations
