"""COMPILE PLAN and EXECUTE PLAN: compiled plans in files."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlparse

from scurry.common._config.tables import PLAN_FORCE_RECOMPILE
from scurry.errors import CompiledPlanError, UnsupportedError, ValidationError
from scurry.sql.statements.compiled.plans import CompiledStatement, compile_statement, read_plan
from scurry.sql.statements.results import StatementResult, ok
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes


def compile_plan(session: TableSession, statement: nodes.CompilePlan) -> StatementResult:
    _compiled(session, statement, statement.if_not_exists)
    return ok()


def compile_and_execute_plan(session: TableSession, statement: nodes.CompileAndExecutePlan) -> StatementResult:
    """Execute the plan of a file; if the file does not exist, compile the statement into it first."""
    return _compiled(session, statement, True).execute()


def execute_plan(session: TableSession, statement: nodes.ExecutePlan) -> StatementResult:
    if not _local(statement.path).exists():
        raise ValidationError(
            f"Failed to execute EXECUTE PLAN '{statement.path}' statement: file resource [{statement.path}] not found."
        )
    return load_plan(session, _local(statement.path)).execute()


def load_plan(session: TableSession, path: Path) -> CompiledStatement:
    """Return the plan of a file.

    Raises:
        CompiledPlanError: There is no such file, or it has no plan that can be restored.
    """
    if path.is_dir():
        raise ValidationError(
            f"The registering or unregistering resource [{path}] is a directory, which is not allowed."
        )
    try:
        return read_plan(session, path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CompiledPlanError(f"Cannot load Plan from file '{path}'. {error}") from error


def write_plan(session: TableSession, plan: CompiledStatement, path: Path, ignore_if_exists: bool = False) -> None:
    """Write a plan into a file.

    Raises:
        ValidationError: The file is there already, or cannot be written.
    """
    if path.exists():
        if ignore_if_exists:
            return
        _check_overwriting(session, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(plan.text, encoding="utf-8")
    except OSError as error:
        raise ValidationError(f"Cannot write the compiled plan to file '{path}'. {error}") from error


def _compiled(
    session: TableSession, statement: nodes.CompilePlan | nodes.CompileAndExecutePlan, if_not_exists: bool
) -> CompiledStatement:
    path = _local(statement.path)
    if path.exists():
        if if_not_exists:
            return load_plan(session, path)
        _check_overwriting(session, path)
    plan = compile_statement(session, statement.statement)
    write_plan(session, plan, path)
    return plan


def _check_overwriting(session: TableSession, path: Path) -> None:
    if not session.get(PLAN_FORCE_RECOMPILE):
        raise ValidationError(
            f"Cannot overwrite the plan file '{path}'. Either manually remove the file or, if you're debugging your "
            f"job, set the option '{PLAN_FORCE_RECOMPILE.key}' to true."
        )


def _local(path: str) -> Path:
    url = urlparse(path)
    if url.scheme == "":
        return Path(path)
    if url.scheme == "file":
        from urllib.request import url2pathname  # loads clients of HTTP and TLS

        return Path(url2pathname(url.path))
    raise UnsupportedError(f"the plan {path}: plans are kept in local files")
