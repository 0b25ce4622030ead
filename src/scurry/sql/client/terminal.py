"""The interactive terminal, with completion, colours and live results."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.shortcuts import clear
from prompt_toolkit.styles import Style

from scurry.sql.client import messages
from scurry.sql.client.client import COMMANDS, Quit, SqlClient
from scurry.sql.client.executor import Answer, Executor
from scurry.sql.client.results import DisplaySettings
from scurry.sql.client.splitting import is_complete, split
from scurry.sql.client.views import ResultView
from scurry.sql.syntax.keywords import KEYWORDS
from scurry.sql.syntax.lexer import (
    APPROXIMATE,
    BINARY_STRING,
    DECIMAL,
    END,
    INTEGER,
    PREFIXED_STRING,
    QUOTED_IDENTIFIER,
    STRING,
    UNICODE_STRING,
    tokenize,
)

if TYPE_CHECKING:
    from scurry.sql.client.embedded import EmbeddedExecutor

PROMPT = "Scurry SQL> "
_HISTORY = "~/.scurry-sql-history"
#: Maximum time of a result that is printed without using the whole terminal.
_PATIENCE_SECONDS = 2.0
_STYLE = Style.from_dict(
    {
        "keyword": "bold ansiblue",
        "text": "ansigreen",
        "number": "ansimagenta",
        "name": "ansicyan",
        "comment": "italic ansibrightblack",
    }
)
_STYLES = {
    **dict.fromkeys((STRING, PREFIXED_STRING, UNICODE_STRING, BINARY_STRING), "class:text"),
    **dict.fromkeys((INTEGER, DECIMAL, APPROXIMATE), "class:number"),
    QUOTED_IDENTIFIER: "class:name",
}


def interact(executor: Executor, init: Path | None, history: Path | None, embedded: EmbeddedExecutor | None) -> int:
    """Read statements from the terminal and execute them until the user leaves.

    Args:
        init: A script to execute first; if it fails, the client ends.
        history: Where what is typed is remembered.
        embedded: The executor, if its jobs end with this process.

    Returns:
        The exit status.
    """
    client = SqlClient(executor, _write, _complain, _view, clear)
    path = Path(history or _HISTORY).expanduser()
    try:
        if init is not None and not client.run_file(init):
            return 1
        print(f"{messages.WELCOME}\n\nCommand history file path: {path}\n")
        session = _prompt(executor, path)
        while True:
            try:
                text = session.prompt()
            except KeyboardInterrupt:
                continue
            except EOFError:
                break
            client.run(text)
            print()
    except Quit:
        pass
    if embedded is not None and (jobs := embedded.running_jobs()):
        print(f"[WARNING] {len(jobs)} running job{'s' * (len(jobs) != 1)} of this client end with it.")
    return 0


def _prompt(executor: Executor, history: Path) -> PromptSession[str]:
    if not history.exists():
        os.close(os.open(history, os.O_CREAT | os.O_WRONLY, 0o600))  # statements may contain passwords
    return PromptSession(
        PROMPT,
        multiline=True,
        prompt_continuation=lambda width, *_: "> ".rjust(width),
        lexer=SqlLexer(),
        completer=SqlCompleter(executor),
        complete_while_typing=False,
        complete_in_thread=True,
        history=FileHistory(str(history)),
        key_bindings=_typing_keys(),
        style=_STYLE,
        enable_history_search=True,
    )


def _typing_keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        text = buffer.document.text
        is_command = text.strip().upper() in COMMANDS
        if not text.strip() or is_command or (split(text) and is_complete(text)):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys


class SqlCompleter(Completer):
    """Completes names of tables, columns and functions, and keywords."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text, position = document.text, document.cursor_position
        pieces = split(document.text_before_cursor)
        start = 0
        if pieces and not pieces[-1].ended:
            start = document.text_before_cursor.rindex(pieces[-1].text.split("\n")[0].strip() or pieces[-1].text)
        found = self._executor.complete(text[start:], position - start)
        before = document.text_before_cursor[start:]
        for candidate in found:
            yield Completion(candidate, start_position=-_typed_part(before, candidate))


def _typed_part(before: str, candidate: str) -> int:
    """Return how much of a candidate stands before the cursor already."""
    folded = candidate.upper()
    typed = before[-len(candidate) :].upper()
    return next((length for length in range(len(typed), 0, -1) if folded.startswith(typed[-length:])), 0)


class SqlLexer(Lexer):
    """Colours a statement by the tokens of Flink's dialect."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return the function that gives the coloured fragments of a line."""
        lines = _coloured(document.text)
        return lambda number: lines[number] if number < len(lines) else []


def _coloured(text: str) -> list[StyleAndTextTuples]:
    tokens = tokenize(text)
    fragments: list[tuple[str, str]] = []
    at = 0
    for key, start, end in zip(tokens.keys, tokens.starts, tokens.ends, strict=True):
        between = text[at:start]
        fragments.append(("class:comment" if between.strip() else "", between))
        if key == END:
            break
        style = _STYLES.get(key, "class:keyword" if key in KEYWORDS else "")
        fragments.append((style, text[start:end]))
        at = end
    lines: list[StyleAndTextTuples] = [[]]
    for style, part in fragments:
        first, *rest = part.split("\n")
        lines[-1].append((style, first))
        for line in rest:
            lines.append([(style, line)])
    return lines


def _view(answer: Answer, settings: DisplaySettings) -> None:
    """Show the rows of an answer on the whole terminal until the user leaves; the last screen stays.

    A result that is complete soon is only printed, unless the session has chosen a mode.
    """
    view = ResultView(answer, settings)
    try:
        if not settings.chooses_mode:
            view.rows.join(_PATIENCE_SECONDS)
        if settings.chooses_mode or not view.rows.is_over:
            _application(view).run()
    except KeyboardInterrupt:
        pass
    finished = view.rows.is_over
    view.rows.stop()
    if view.rows.error is not None:
        raise view.rows.error
    for line in view.printed(shutil.get_terminal_size().columns):
        _write(line)
    if not finished:
        _write(messages.info(messages.CANCELLED))


def _application(view: ResultView) -> Application[None]:
    def size() -> tuple[int, int]:
        found = application.output.get_size()
        return found.columns, found.rows

    def shown() -> str:
        width, height = size()
        return "\n".join(view.lines(width, height))

    def seconds() -> float:
        return view.refresh_seconds or 0.5

    async def refresh() -> None:
        while True:
            if view.refresh_seconds or view.rows.is_over:
                view.refresh()
            application.invalidate()
            if view.rows.is_over:
                return
            await asyncio.sleep(seconds() if view.rows.snapshot() else 0.1)

    application: Application[None] = Application(
        Layout(Window(FormattedTextControl(shown, show_cursor=False))),
        key_bindings=_viewing_keys(view, lambda: size()[1]),
        full_screen=True,
    )

    def begin() -> None:
        application.create_background_task(refresh())

    application.pre_run_callables.append(begin)
    return application


def _viewing_keys(view: ResultView, height: Callable[[], int]) -> KeyBindings:
    keys = KeyBindings()
    number: list[str] = []

    def on(*names: str) -> Callable[[Callable[[KeyPressEvent], Any]], None]:
        def add(handle: Callable[[KeyPressEvent], Any]) -> None:
            for name in names:
                keys.add(name)(handle)

        return add

    def leave(event: KeyPressEvent) -> None:
        if view.opened is not None:
            view.opened = None
        else:
            event.app.exit()

    def go_to(event: KeyPressEvent) -> None:
        view.go_to(int("".join(number)) if number else 1, height())
        number.clear()

    on("q", "Q", "escape", "c-c")(leave)
    on("r", "R")(lambda event: view.refresh())
    on("n", "N", "pagedown")(lambda event: view.turn(1, height()))
    on("p", "P", "pageup")(lambda event: view.turn(-1, height()))
    on("l", "L", "end")(lambda event: view.go_to(None, height()))
    on("home")(lambda event: view.go_to(1, height()))
    on("g", "G")(go_to)
    on("+")(lambda event: view.faster(1))
    on("-")(lambda event: view.faster(-1))
    on("up")(lambda event: view.select(-1, height()))
    on("down")(lambda event: view.select(1, height()))
    on("o", "O")(lambda event: setattr(view, "opened", view.selected))
    for digit in "0123456789":
        keys.add(digit)(lambda event: number.append(event.data))
    return keys


def _write(line: str) -> None:
    from scurry.common.redaction import printable

    print(printable(line), flush=True)


def _complain(text: str) -> None:
    from scurry.common.redaction import printable, without_secrets

    red, plain = ("\x1b[31m", "\x1b[0m") if sys.stdout.isatty() else ("", "")
    print(f"{red}{printable(without_secrets(text))}{plain}", flush=True)
