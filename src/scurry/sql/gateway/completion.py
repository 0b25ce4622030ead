"""Completion of statements: the words that may follow at a position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from scurry.errors import ScurryError
from scurry.sql.functions.catalogue import callable_functions
from scurry.sql.statements.listing.options import option_keys, option_values, settings
from scurry.sql.statements.queries import result_names
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax.keywords import RESERVED
from scurry.sql.syntax.lexer import IDENTIFIER, IDENTIFIER_KEYS, QUOTED_IDENTIFIER, STRING, Tokens, tokenize

_STATEMENTS = (
    "ADD JAR, ALTER MATERIALIZED TABLE, ALTER MODEL, ALTER TABLE, ALTER VIEW, ANALYZE TABLE, BEGIN STATEMENT SET, "
    "CREATE CATALOG, CREATE DATABASE, CREATE FUNCTION, CREATE MATERIALIZED TABLE, CREATE MODEL, CREATE TABLE, "
    "CREATE TEMPORARY VIEW, CREATE VIEW, DESCRIBE, DROP CATALOG, DROP DATABASE, DROP FUNCTION, DROP MATERIALIZED "
    "TABLE, DROP MODEL, DROP TABLE, DROP VIEW, END, EXECUTE STATEMENT SET BEGIN, EXPLAIN, HELP, INSERT INTO, "
    "INSERT OVERWRITE, LOAD MODULE, QUIT, REMOVE JAR, RESET, SELECT, SET, SHOW CATALOGS, SHOW COLUMNS FROM, SHOW "
    "CREATE MATERIALIZED TABLE, SHOW CREATE MODEL, SHOW CREATE TABLE, SHOW CREATE VIEW, SHOW DATABASES, SHOW "
    "FUNCTIONS, SHOW JARS, SHOW JOBS, SHOW MATERIALIZED TABLES, SHOW MODELS, SHOW MODULES, SHOW TABLES, SHOW "
    "VIEWS, STOP JOB, UNLOAD MODULE, USE, USE CATALOG, VALUES, WITH"
).split(", ")
#: Words of queries and definitions that may follow the first one.
WORDS = tuple(
    """
    ALL AND ANY ARRAY AS ASC BETWEEN BIGINT BOOLEAN BY BYTES CASE CAST CHAR CROSS CUBE CURRENT DATE DAY DECIMAL DEFINE
    DESC DESCRIPTOR DISTINCT DOUBLE ELSE END ENFORCED ESCAPE EXCEPT EXISTS FALSE FETCH FILTER FIRST FLOAT FOLLOWING FOR
    FROM FULL GROUP GROUPING HAVING HOUR IN INNER INT INTERSECT INTERVAL INTO IS JOIN KEY LAST LATERAL LEFT LIKE LIMIT
    MAP MATCH_RECOGNIZE MEASURES METADATA MINUTE MONTH MULTISET NATURAL NEXT NOT NULL NULLS OFFSET ON OR ORDER
    ORDINALITY OUTER OVER PARTITION PARTITIONED PATTERN PRECEDING PRIMARY RANGE RIGHT ROLLUP ROW ROWS SECOND SELECT SETS
    SIMILAR SMALLINT SOME STRING SYMMETRIC SYSTEM_TIME TABLE THEN TIME TIMESTAMP TIMESTAMP_LTZ TINYINT TO TRUE TRY_CAST
    UNBOUNDED UNION UNNEST USING VALUES VARBINARY VARCHAR VIRTUAL WATERMARK WHEN WHERE WINDOW WITH WITHIN YEAR
    """.split()
)
_BEFORE_TABLES = {"FROM", "JOIN", "INTO", "OVERWRITE", "TABLE", "VIEW", "DESCRIBE", "DESC", "UPDATE"}
#: Limits of the queries in a statement whose columns are offered: characters of the statement, number of queries.
_DERIVED_TEXT, _DERIVED_QUERIES = 10_000, 20
#: The name that ends at a position, read from there: the other direction takes time that grows with its square.
_NAME_BACKWARDS = re.compile(r"([\w$]*+)(?:\.(`?[\w$]++`?(?:\.`?[\w$]++`?)*+))?")


def candidates(session: TableSession, text: str, position: int) -> list[str]:
    """Return completions at a position, best first.

    After FROM and its like these are tables, after a table's name or alias and a dot its columns; elsewhere columns of
    the statement's tables, functions and keywords. Within the quotes of SET and RESET these are keys of settings, of
    WITH and OPTIONS keys and values of options.

    Args:
        session: The session, whose catalogs are asked.
        text: The statement as far as it is typed.
        position: The offset in it.
    """
    before = text[:position]
    tokens = tokenize(before)
    if "'" in tokens.keys:  # a text that nothing ends yet
        return _quoted(tokens, tokens.keys.index("'"))
    found = _NAME_BACKWARDS.match(before[::-1])
    assert found is not None
    qualifier, prefix = None if found[2] is None else found[2][::-1], found[1][::-1]
    keys = tokenize(before[: len(before) - found.end()]).keys[:-1]
    if qualifier is not None:
        return _matching(prefix, _members(session, text, qualifier))
    if not keys or keys[-1] == ";":
        return _matching(before.lstrip() if not keys else prefix, _STATEMENTS)
    if keys[-1] == "MODEL":
        return _matching(prefix, _models(session))
    if keys[-1] in _BEFORE_TABLES:
        return _matching(prefix, [*_common_tables(text), *_tables(session), *session.catalogs.list_catalogs()])
    derived = dict(_derived(text))
    columns = [column for table in _mentioned(text).values() for column in _columns(session, table, derived)]
    columns += [column for query in derived.values() for column in _result_columns(session, query)]
    users = _names(
        lambda: session.catalogs.catalog(session.catalogs.current_catalog).list_functions(
            session.catalogs.current_database
        )
    )
    rest: list[str] = [*users, *callable_functions(), *WORDS] if prefix else []
    return _matching(prefix, [*columns, *rest])


def _quoted(tokens: Tokens, quote: int) -> list[str]:
    """Return completions in the quotes that a token opens."""
    keys, prefix = tokens.keys[:quote], tokens.text[tokens.ends[quote] :]
    if keys in (["SET"], ["RESET"]):
        return _matching(prefix, settings())
    options = _options(tokens, quote)
    if keys[-2:] == [STRING, "="]:
        return _matching(prefix, option_values(_text(tokens, quote - 2), options))
    if keys[-1:] in (["("], [","]) and ("WITH" in keys or "OPTIONS" in keys):
        is_first = "MODEL" in keys and not options
        return _matching(prefix, ["provider"] if is_first else option_keys(options))
    return []


def _options(tokens: Tokens, end: int) -> dict[str, str]:
    """Return the options that are written before a token."""
    return {
        _text(tokens, index): _text(tokens, index + 2)
        for index in range(end - 2)
        if tokens.keys[index : index + 3] == [STRING, "=", STRING]
    }


def _text(tokens: Tokens, index: int) -> str:
    return tokens.text[tokens.starts[index] + 1 : tokens.ends[index] - 1].replace("''", "'")


def _matching(prefix: str, names: Iterable[str]) -> list[str]:
    wanted = prefix.upper()
    return list(dict.fromkeys(name for name in names if name.upper().startswith(wanted)))


def _common_tables(text: str) -> Iterator[str]:
    """Yield the names that WITH gives to queries of the statement."""
    tokens = tokenize(text)
    for index, key in enumerate(tokens.keys):
        if key in IDENTIFIER_KEYS and tokens.keys[index + 1 : index + 3] == ["AS", "("]:
            if tokens.keys[index - 1] in ("WITH", ","):
                yield text[tokens.starts[index] : tokens.ends[index]]


def _tables(session: TableSession) -> list[str]:
    return [_written(name) for name in _names(session.catalogs.list_tables)]


def _models(session: TableSession) -> list[str]:
    catalogs = session.catalogs
    permanent = _names(lambda: catalogs.models.list_models(catalogs.current_catalog, catalogs.current_database))
    return [_written(name) for name in sorted({*permanent, *catalogs.models.list_temporary_models()})]


def _written(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_][\w$]*", name) is not None and name.upper() not in RESERVED
    return name if plain else f"`{name}`"


def _names(listed: object) -> list[str]:
    """Return the names that a catalog lists; nothing if it cannot list them."""
    try:
        return list(listed())  # type: ignore[operator]
    except Exception:  # a catalog of another system may be unreachable, which is no reason to disturb who types
        return []


def _mentioned(text: str) -> dict[str, list[str]]:
    """Return the tables that a statement names, by alias or name."""
    tokens = tokenize(text)
    names: dict[str, list[str]] = {}
    for index, key in enumerate(tokens.keys):
        if key in _BEFORE_TABLES or (key == "," and names):
            parts, at = _name_at(tokens.keys, tokens.text, tokens.starts, tokens.ends, index + 1)
            if not parts:
                continue
            names[parts[-1].upper()] = parts
            alias = _alias(tokens.keys, at)
            if alias is not None:
                names[text[tokens.starts[alias] : tokens.ends[alias]].strip("`").upper()] = parts
    return names


def _alias(keys: list[str], at: int) -> int | None:
    """Return the place of the alias of a table that ends before a place; None without one."""
    if keys[at] == "AS":
        return at + 1 if keys[at + 1] in IDENTIFIER_KEYS else None
    return at if keys[at] in (IDENTIFIER, QUOTED_IDENTIFIER) else None


def _name_at(keys: list[str], text: str, starts: list[int], ends: list[int], at: int) -> tuple[list[str], int]:
    parts: list[str] = []
    while keys[at] in IDENTIFIER_KEYS:
        parts.append(text[starts[at] : ends[at]].strip("`"))
        at += 1
        if keys[at] != ".":
            break
        at += 1
    return parts, at


def _members(session: TableSession, text: str, qualifier: str) -> Iterator[str]:
    """Yield the columns of a table or alias, the databases of a catalog, the tables of a database."""
    parts = [part.strip("`") for part in qualifier.split(".")]
    yield from _columns(session, _mentioned(text).get(parts[-1].upper(), parts), dict(_derived(text)))
    catalogs = session.catalogs
    if len(parts) == 1 and parts[0] in catalogs.list_catalogs():
        yield from _names(lambda: catalogs.catalog(parts[0]).list_databases())
    database = parts if len(parts) == 2 else [catalogs.current_catalog, parts[0]]
    if len(parts) <= 2:
        yield from map(_written, _names(lambda: catalogs.list_tables(*database)))


def _derived(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names of the queries in WITH and FROM, in upper case, each with a statement that returns its rows.

    Long statements have none, and later queries are left out: each is validated while the user types.
    """
    if len(text) > _DERIVED_TEXT:
        return
    tokens = tokenize(text)
    keys = tokens.keys
    common: list[str] = []

    def name_at(at: int) -> str:
        return text[tokens.starts[at] : tokens.ends[at]].strip("`")

    starts = [at for at, key in enumerate(keys) if key == "(" and keys[at + 1] in ("SELECT", "VALUES")]
    for start in starts[:_DERIVED_QUERIES]:
        end = _closing(keys, start)
        if end is None:
            continue
        query = text[tokens.ends[start] : tokens.starts[end]]
        statement = f"WITH {', '.join(common)} {query}" if common else query
        if keys[start - 1] == "AS" and keys[start - 2] in IDENTIFIER_KEYS and keys[start - 3] in ("WITH", ","):
            yield name_at(start - 2).upper(), statement
            common.append(f"`{name_at(start - 2)}` AS ({query})")
        elif keys[start - 1] in ("FROM", "JOIN", ","):
            alias = _alias(keys, end + 1)
            if alias is not None:
                yield name_at(alias).upper(), statement


def _closing(keys: list[str], start: int) -> int | None:
    """Return the place of the parenthesis that closes another one; None if it is not typed yet."""
    depth = 0
    for at in range(start, len(keys)):
        depth += (keys[at] == "(") - (keys[at] == ")")
        if depth == 0:
            return at
    return None


def _columns(session: TableSession, name: list[str], derived: Mapping[str, str]) -> list[str]:
    """Return the columns of a table, or of a query that the statement gives this name."""
    if len(name) == 1 and name[0].upper() in derived:
        return _result_columns(session, derived[name[0].upper()])
    try:
        found = session.catalogs.find_table(session.catalogs.qualify(name))
        return [] if found is None else [_written(each) for each in found.table.schema.get_column_names()]
    except ScurryError:
        return []


def _result_columns(session: TableSession, query: str) -> list[str]:
    """Return the columns of a query's result; nothing if it is wrong."""
    try:
        return [_written(name) for name in result_names(session, query)]
    except ScurryError:
        return []
