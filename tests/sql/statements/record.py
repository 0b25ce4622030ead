"""Record what real Flink answers: PYTHON-OF-PYFLINK tests/sql/statements/record.py [NAME ...].

A transcript is a file of statements, each ended by `;` at the end of a line. Its recording has, for each statement, the
statement, then what `TableResult.print()` writes, or the messages of the error and of its causes (`!`).
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from support.statements.files import TRANSCRIPTS, is_batch, settings_of, statements, text_of, write_files


def causes(error: Exception) -> list[str]:
    """The first line of each message, from the error to its root cause."""
    messages, lines = [], str(error).splitlines()
    for index, line in enumerate(lines):
        head = line.removeprefix("Caused by: ") if line.startswith("Caused by: ") else None
        if line.startswith(": "):
            head = line[2:]
        if index == 0 and re.match(r"^[a-z][\w.$]*\.[A-Z][\w$]*(: |$)", line):
            head = line
        if head is not None:
            cls, _, message = head.partition(": ")
            for more in lines[index + 1 :]:
                if re.match(r"\s*(at |\.\.\. |Caused by:|Was expecting|org\.apache.*Exception: )", more):
                    break
                more = re.sub(r'File "/[^"]*/(site-packages|python3\.\d+)/', 'File "', more)
                message += f"\n!     {more}" if more.strip() else ""
            messages.append(f"{cls.rpartition('.')[2]}: {message}")
    return list(dict.fromkeys(messages)) or [f"{type(error).__name__}: {lines[0] if lines else ''}"]


def main() -> None:
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    from pyflink.table import EnvironmentSettings, TableEnvironment

    names = sys.argv[1:] or [path.stem for path in sorted(TRANSCRIPTS.glob("*.sql"))]
    for name in names:
        text = text_of(name)
        chosen = EnvironmentSettings.in_batch_mode() if is_batch(text) else EnvironmentSettings.in_streaming_mode()
        env = TableEnvironment.create(chosen)
        env.get_config().set("parallelism.default", "1")
        env.get_config().set("table.local-time-zone", "UTC")
        for key, value in settings_of(text).items():
            env.get_config().set(key, value)
        with tempfile.TemporaryDirectory() as directory:
            write_files(text, directory)
            answers = [answer(env, statement, directory) for statement in statements(text)]
        (TRANSCRIPTS / f"{name}.expected").write_text("\n".join(answers))
        print(name, file=sys.stderr, flush=True)


def answer(env: Any, statement: str, directory: str) -> str:
    try:
        with captured() as output:
            result = env.execute_sql(statement.replace("{tmp}", directory))
            kind = result.get_result_kind()
            if result.get_job_client() is not None and statement.split()[0].upper() in (
                "INSERT",
                "EXECUTE",
                "CREATE",
                "COMPILE",
            ):
                result.wait()
            else:
                result._j_table_result.print()
        shown = str(output.toString())
        schema = str(result._j_table_result.getResolvedSchema().toString()).replace("\n", " ")
        body = f"= {kind} {schema}\n{shown}"
    except Exception as error:
        body = "".join(f"! {line}\n" for line in causes(error))
    return f"> {statement}\n{body}".replace(directory, "{tmp}")


@contextmanager
def captured() -> Iterator[Any]:
    """Collect what Java prints."""
    from pyflink.java_gateway import get_gateway

    jvm = get_gateway().jvm
    stream = jvm.java.io.ByteArrayOutputStream()
    before = jvm.System.out
    jvm.System.setOut(jvm.java.io.PrintStream(stream, True))
    try:
        yield stream
    finally:
        jvm.System.setOut(before)


if __name__ == "__main__":
    main()
