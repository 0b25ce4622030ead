"""The messages of the client, in the words of Flink's."""

from __future__ import annotations

import traceback
from dataclasses import replace

from scurry.errors import ScurryError

EXECUTED = "Execute statement succeeded."
SUBMITTED = (
    "[INFO] Submitting SQL update statement to the cluster...\n"
    "[INFO] SQL update statement has been successfully submitted to the cluster:\n"
    "Job ID: {}\n"
)
COMPLETED = "Complete execution of the SQL update statement."
CANCELLED = "Result retrieval cancelled."

WELCOME = "Welcome to scurry's SQL client. 'HELP;' lists the commands, 'QUIT;' ends it."

HELP = """\
The following commands are available:

HELP                   Prints the available commands.
QUIT/EXIT              Quits the SQL client.
CLEAR                  Clears the terminal.
SOURCE 'script.sql'    Executes the statements of a file.
SET                    Sets a property of the session: SET 'key' = 'value'; SET; lists all.
RESET                  Resets a property: RESET 'key'; RESET; resets all.
INSERT INTO            Inserts the rows of a query into a table.
INSERT OVERWRITE       Inserts the rows of a query into a table instead of those it has.
SELECT                 Executes a query.
EXPLAIN                Shows the execution plan of a query or an insertion.
BEGIN STATEMENT SET    Begins a statement set, whose insertions run as one job.
END                    Ends a statement set and starts its job.
SHOW JOBS              Lists the jobs; DESCRIBE JOB 'id'; shows one.
STOP JOB               Stops a job: STOP JOB 'id' [WITH SAVEPOINT [WITH DRAIN]];
ADD JAR                Names a JAR, which is kept and not used.
REMOVE JAR             Forgets a JAR.
SHOW JARS              Lists the JARs.

Hint: a statement ends with ";" and may have many lines.
"""


def info(text: str) -> str:
    return f"[INFO] {text}"


def error_text(error: BaseException, script: str, line: int = 1, verbose: bool = False) -> str:
    """Return the client's text of an error, with the line of the statement.

    Args:
        script: The file that the statement is from; empty if it was typed.
        line: The line that the statement begins in.
        verbose: Whether the whole traceback is shown (`sql-client.verbose`).
    """
    lines = ["[ERROR] Could not execute SQL statement. Reason:"]
    if isinstance(error, ScurryError):
        if error.statement is not None and not error.statement.before:
            error.statement = replace(error.statement, file=script, before=line - 1)
        where = f"{error.statement}: " if error.statement is not None and script else ""
        lines.append(f"{where}{type(error).__name__}: {error.describe()}")
    else:
        lines.append(f"{type(error).__name__}: {error}")
    if verbose:
        lines.append("".join(traceback.format_exception(error)).rstrip())
    return "\n".join(lines)
