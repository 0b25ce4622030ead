"""Statements and definitions of SQLAlchemy as Flink's SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import exc, util
from sqlalchemy import types as sqltypes
from sqlalchemy.sql import compiler, operators

from scurry.sql.syntax.keywords import KEYWORDS, NON_RESERVED
from scurry.sql.syntax.unparse.dispatch import quoted, string

#: Of OFFSET alone, which is refused.
_EVERY = 2**31 - 1


class ScurryIdentifierPreparer(compiler.IdentifierPreparer):
    """Quotes names with backticks where they need it; a schema may be `catalog.database`."""

    reserved_words = {word.lower() for word in KEYWORDS - NON_RESERVED}

    def __init__(self, dialect: Any) -> None:
        """Set the quotes.

        Args:
            dialect: The dialect.
        """
        super().__init__(dialect, initial_quote="`", escape_quote="`")

    def quote_schema(self, schema: str, force: Any = None) -> str:
        """Return `catalog.database`, or a database of the current catalog."""
        return ".".join(self.quote(part) for part in schema.split(".", 1))

    def format_schema(self, name: str) -> str:
        return self.quote_schema(name)


class ScurryCompiler(compiler.SQLCompiler):
    """Writes statements."""

    # The names are those that SQLAlchemy calls.
    def visit_bindparam(self, bindparam: Any, within_columns_clause: bool = False, **kw: Any) -> str:  # type: ignore[override]
        """Write a parameter, with its type where NULL alone would be refused."""
        plain = kw.pop("plain", False)
        write: Callable[..., str] = super().visit_bindparam
        text = write(bindparam, within_columns_clause=within_columns_clause, **kw)
        typed = (self.isinsert or within_columns_clause) and not plain
        if not typed or bindparam.expanding or isinstance(bindparam.type, sqltypes.NullType):
            return text
        return f"CAST({text} AS {self.dialect.type_compiler.process(bindparam.type)})"

    def limit_clause(self, select: Any, **kw: Any) -> str:
        text = ""
        if select._limit_clause is not None:
            text += f"\n LIMIT {self.process(select._limit_clause, plain=True, **kw)}"
        elif select._offset_clause is not None:
            text += f"\n LIMIT {_EVERY}"
        if select._offset_clause is not None:
            text += f"\n OFFSET {self.process(select._offset_clause, plain=True, **kw)} ROWS"
        return text

    def default_from(self) -> str:
        """Write a table of one row for WHERE, which needs one."""
        selected: Any = self.stack[-1]["selectable"]
        return " \nFROM (VALUES (1)) AS one_row(x)" if selected._where_criteria else ""

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        """Write nothing: there are no locks."""
        return ""

    def visit_empty_set_expr(self, element_types: Any, **kw: Any) -> str:
        return f"SELECT {self._nulls(element_types)} FROM (VALUES (1)) AS empty_set(x) WHERE FALSE"

    def visit_empty_set_op_expr(self, type_: Any, expand_op: Any, **kw: Any) -> str:
        nulls = self._nulls(type_) if len(type_) == 1 else f"({self._nulls(type_)})"
        if expand_op is operators.not_in_op:
            return f"{nulls}) OR (1 = 1"
        return f"{nulls}) AND (1 <> 1" if expand_op is operators.in_op else self.visit_empty_set_expr(type_, **kw)

    def _nulls(self, kinds: Any) -> str:
        known = [sqltypes.Integer() if isinstance(one, sqltypes.NullType) else one for one in kinds]
        return ", ".join(f"CAST(NULL AS {self.dialect.type_compiler.process(one)})" for one in known)

    def visit_truediv_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """Write a division of integers as one of DOUBLE: that of DECIMAL would be rounded."""
        left, right = self.process(binary.left, **kw), self.process(binary.right, **kw)
        if isinstance(binary.left.type, sqltypes.Integer) and isinstance(binary.right.type, sqltypes.Integer):
            right = f"CAST({right} AS DOUBLE)"
        return f"{left} / {right}"

    def visit_ne_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._generate_generic_binary(binary, " <> ", **kw)

    def visit_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"REGEXP({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)})"

    def visit_not_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"NOT {self.visit_regexp_match_op_binary(binary, operator, **kw)}"

    def visit_regexp_replace_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"REGEXP_REPLACE({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)})"


class ScurryDDLCompiler(compiler.DDLCompiler):
    """Writes definitions. There are no constraints but primary keys, which nobody enforces."""

    def get_column_specification(self, column: Any, **kw: Any) -> str:
        """Write a column.

        Raises:
            CompileError: It has a default, which columns of Flink have not.
        """
        name = self.preparer.format_column(column)
        comment = f" COMMENT {string(column.comment)}" if column.comment else ""
        if column.computed is not None:
            expression = self.sql_compiler.process(column.computed.sqltext, include_table=False, literal_binds=True)
            return f"{name} AS {expression}{comment}"
        if column.server_default is not None:
            raise exc.CompileError(
                f"column {column.name!r} has a server_default, which columns of Flink's SQL have not: use default="
            )
        kind = self.dialect.type_compiler.process(column.type, type_expression=column)
        return f"{name} {kind}{'' if column.nullable else ' NOT NULL'}{comment}"

    def visit_primary_key_constraint(self, constraint: Any, **kw: Any) -> str:
        text = super().visit_primary_key_constraint(constraint, **kw)
        return f"{text} NOT ENFORCED" if text else ""

    def visit_foreign_key_constraint(self, constraint: Any, **kw: Any) -> Any:
        return self._left_out(constraint, "foreign keys")

    def visit_unique_constraint(self, constraint: Any, **kw: Any) -> Any:
        return self._left_out(constraint, "unique constraints")

    def visit_check_constraint(self, constraint: Any, **kw: Any) -> Any:
        return self._left_out(constraint, "check constraints")

    def visit_column_check_constraint(self, constraint: Any, **kw: Any) -> Any:
        return self._left_out(constraint, "check constraints")

    def _left_out(self, constraint: Any, kind: str) -> None:
        util.warn(f"scurry has no {kind}: that of {constraint.table.name!r} is left out of CREATE TABLE")

    def post_create_table(self, table: Any) -> str:
        """Write comment, partitions and options; without options, those that the engine was made with."""
        options = table.dialect_options["scurry"]
        given = {**(self.dialect.table_options or {}), **(options["with"] or {})}  # type: ignore[attr-defined]
        text = f"\nCOMMENT {string(table.comment)}" if table.comment else ""
        if options["partitioned_by"]:
            text += f"\nPARTITIONED BY ({', '.join(map(quoted, options['partitioned_by']))})"
        if given:
            text += f"\nWITH ({', '.join(f'{string(key)} = {string(str(value))}' for key, value in given.items())})"
        return text

    def visit_create_index(self, create: Any, **kw: Any) -> str:  # type: ignore[override]
        """Refuse: there are no indexes.

        Raises:
            CompileError: Always.
        """
        raise exc.CompileError(
            f"scurry has no indexes, such as {create.element.name!r}: leave out index=True; pandas makes one for the "
            "index of a DataFrame unless it is told to_sql(..., index=False)"
        )

    def _database(self, ddl: Any) -> str:
        preparer: Any = self.preparer
        return str(preparer.format_schema(ddl.element))

    def visit_create_schema(self, create: Any, **kw: Any) -> str:
        exists = "IF NOT EXISTS " if getattr(create, "if_not_exists", False) else ""
        return f"CREATE DATABASE {exists}{self._database(create)}"

    def visit_drop_schema(self, drop: Any, **kw: Any) -> str:
        exists = "IF EXISTS " if getattr(drop, "if_exists", False) else ""
        return f"DROP DATABASE {exists}{self._database(drop)}{' CASCADE' if drop.cascade else ''}"
