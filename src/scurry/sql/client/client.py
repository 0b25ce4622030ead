"""SqlClient: executes typed statements and scripts, and prints the results."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from scurry.errors import ScurryError, ValidationError
from scurry.sql.client import messages
from scurry.sql.client.executor import Answer, Executor
from scurry.sql.client.results import DisplaySettings, print_answer, print_text
from scurry.sql.client.splitting import Piece, split
from scurry.sql.syntax.lexer import STRING, tokenize

COMMANDS = ("QUIT", "EXIT", "HELP", "CLEAR")
"""What needs no semicolon where it is typed."""

_DEEPEST_SOURCE = 20


class Quit(Exception):
    """The user has typed QUIT."""


class Viewer(Protocol):
    """Shows the rows of a query on the whole terminal."""

    def __call__(self, answer: Answer, settings: DisplaySettings) -> None:
        """Show them until the user leaves, which cancels the query."""
        ...


class SqlClient:
    """Executes statements, and the commands that concern the client itself."""

    def __init__(
        self,
        executor: Executor,
        write: Callable[[str], None],
        complain: Callable[[str], None],
        viewer: Viewer | None = None,
        clear: Callable[[], None] | None = None,
    ) -> None:
        """Make a client.

        Args:
            executor: What executes statements.
            write: Prints a line.
            complain: Prints an error.
            viewer: Shows results in the modes `table` and `changelog`; None if there is no terminal, where all are
                printed.
            clear: Clears the terminal.
        """
        self.executor = executor
        self._write, self._complain = write, complain
        self._viewer, self._clear = viewer, clear
        self._sources = 0
        self._script = ""

    def run(self, text: str, stops_at_error: bool = True) -> bool:
        """Execute the statements of a text.

        Args:
            stops_at_error: Whether those after one that has failed are left out.

        Returns:
            Whether all have succeeded.

        Raises:
            Quit: One of them is QUIT.
        """
        succeeded = True
        for piece in split(text):
            if not self._run_one(piece):
                succeeded = False
                if stops_at_error:
                    break
        return succeeded

    def run_file(self, path: Path) -> bool:
        """Execute the statements of a file; the first that fails ends it."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self._complain(f"[ERROR] {path} cannot be read: {reason}")
            return False
        around, self._script = self._script, str(path)
        try:
            return self.run(text)
        finally:
            self._script = around

    def _run_one(self, piece: Piece) -> bool:
        began, answer = time.monotonic(), None
        try:
            command = self._command(piece.text)
            if command is not None:
                return command()
            answer = self.executor.execute(piece.text, self._script, piece.line)
            if answer.has_content and _answers_text(piece.text):
                print_text(answer, self._write)
            else:
                self._show(answer, began)
        except KeyboardInterrupt:
            if answer is not None and answer.is_query:  # nothing shows its rows yet, or any more
                with suppress(ScurryError):
                    answer.cancel()
            self._write(messages.info(messages.CANCELLED))
            return False
        except Quit:
            raise
        except Exception as error:
            verbose = DisplaySettings(self.executor.settings()).verbose if isinstance(error, ScurryError) else True
            self._complain(messages.error_text(error, self._script, piece.line, verbose))
            return False
        return True

    def _show(self, answer: Answer, began: float) -> None:
        settings = DisplaySettings(self.executor.settings())
        if answer.is_query and settings.mode != "TABLEAU" and self._viewer is not None:
            self._viewer(answer, settings)
        elif answer.job_id is not None and not answer.is_query:
            self._submitted(answer, settings)
        elif answer.has_content:
            print_answer(answer, settings, began, self._write)
        else:
            for _ in answer.pages():
                pass
            self._write(messages.info(messages.EXECUTED))

    def _submitted(self, answer: Answer, settings: DisplaySettings) -> None:
        for _ in answer.pages():
            pass
        if settings.waits:
            self._write(messages.info(messages.COMPLETED))
        else:
            self._write(messages.SUBMITTED.format(answer.job_id))

    def _command(self, text: str) -> Callable[[], bool] | None:
        """Return the function of a client command, None if the text is a statement."""
        tokens = tokenize(text)
        words = [text[start:end].upper() for start, end in zip(tokens.starts, tokens.ends, strict=True)][:-1]
        if words in (["QUIT"], ["EXIT"]):
            return self._quit
        if words == ["HELP"]:
            return self._help
        if words == ["CLEAR"]:
            return self._clear_terminal
        if len(words) == 2 and words[0] == "SOURCE" and tokens.keys[1] == STRING:
            path = text[tokens.starts[1] + 1 : tokens.ends[1] - 1].replace("''", "'")
            return lambda: self._source(Path(path))
        return None

    def _quit(self) -> bool:
        raise Quit

    def _help(self) -> bool:
        self._write(messages.HELP)
        return True

    def _clear_terminal(self) -> bool:
        if self._clear is not None:
            self._clear()
        return True

    def _source(self, path: Path) -> bool:
        if self._sources >= _DEEPEST_SOURCE:
            raise ValidationError(f"SOURCE '{path}': files source each other more than {_DEEPEST_SOURCE} deep")
        self._sources += 1
        try:
            return self.run_file(path)
        finally:
            self._sources -= 1


def _answers_text(statement: str) -> bool:
    """Return whether a statement answers a text of many lines, which is no table."""
    words = tokenize(statement[:200]).keys[:2]
    return words[:1] == ["EXPLAIN"] or words == ["SHOW", "CREATE"]
