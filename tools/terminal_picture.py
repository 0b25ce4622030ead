"""Record commands on a terminal, and draw the recording as an animated picture.

python tools/terminal_picture.py record    # run the commands, write docs/pictures/terminal.cast, and draw it
python tools/terminal_picture.py           # draw docs/pictures/terminal.svg from it

The recording is an asciicast, version 2. Pauses longer than its `idle_time_limit` are shortened, as asciinema does.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
CAST = ROOT / "docs" / "pictures" / "terminal.cast"
PICTURE = CAST.with_suffix(".svg")
COMMANDS = ("scurry run --runner local -p 1 examples/sales.py", "scurry run --runner local -p 1 examples/sales.sql")
COLUMNS, ROWS = 72, 22
#: Seconds: longest pause, per typed character, on the last screen.
IDLE, TYPING, END = 1.0, 0.04, 6.0
_LINE, _COLUMN, _MARGIN = 18, 8.4, 14
_CONTROL = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b[=>]|([\r\n])|([^\x1b\r\n]+)")
_STYLE = """\
  <style>
    .ground { fill: #f8fafc; stroke: #cbd5e1 } text { fill: #0f172a; white-space: pre } .typed { fill: #15803d }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0f172a; stroke: #334155 } text { fill: #e2e8f0 } .typed { fill: #4ade80 }
    }
    .shown { animation-duration: %ss; animation-iteration-count: infinite; animation-timing-function: step-end }
    @media (prefers-reduced-motion: reduce) { .shown { animation: none } .gone { display: none } }
%s
  </style>"""


def record() -> list[str]:
    """Run the commands on a terminal and return the lines of an asciicast."""
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "idle_time_limit": IDLE, "title": "scurry"}
    events: list[tuple[float, str]] = []
    clock = 0.0
    for command in COMMANDS:
        for typed in ("$ ", *command, "\r\n"):
            events.append((clock, typed))
            clock += TYPING
        started = time.monotonic()
        for printed in _printed_by(command):
            events.append((clock + time.monotonic() - started, printed))
        clock = events[-1][0] + IDLE
    return [json.dumps(header), *(json.dumps([round(at, 3), "o", text]) for at, text in events)]


def _printed_by(command: str) -> Iterator[str]:
    """Yield what a command writes to a terminal of the picture's size."""
    mine, its = pty.openpty()
    size = {"COLUMNS": str(COLUMNS), "LINES": str(ROWS), "TERM": "xterm", "NO_COLOR": "1", "SCURRY_SETUP": "never"}
    environment = {**os.environ, **size, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    program = subprocess.Popen(command.split(), cwd=ROOT, env=environment, stdin=its, stdout=its, stderr=its)
    os.close(its)
    try:
        while chunk := os.read(mine, 65536):
            yield chunk.decode()
    except OSError:  # Linux's end of a terminal
        pass
    if program.wait():
        sys.exit(f"{command} failed")


def screens(lines: list[str]) -> list[tuple[float, list[str]]]:
    """Return the screens of an asciicast, each with the second at which it appears."""
    header = json.loads(lines[0])
    found: list[tuple[float, list[str]]] = []
    rows, at, column, clock, before = [""], 0, 0, 0.0, 0.0
    for line in lines[1:]:
        moment, _, text = json.loads(line)
        clock += min(moment - before, header["idle_time_limit"])
        before = moment
        for parameters, control, moved, printed in _CONTROL.findall(text):
            if printed:
                rows[at] = rows[at][:column].ljust(column) + printed + rows[at][column + len(printed) :]
                column += len(printed)
            elif moved == "\r":
                column = 0
            elif moved == "\n":
                at += 1
                rows += [""] * (at + 1 - len(rows))
            elif control == "A":
                at = max(at - int(parameters or 1), 0)
            elif control == "K":
                rows[at] = "" if parameters == "2" else rows[at][:column]
            elif control == "J":
                rows[at:] = [rows[at][:column]]
        found.append((clock, [row.rstrip() for row in rows]))
    return found


def drawn(lines: list[str]) -> str:
    """Return the animated picture of an asciicast: each text of a row is shown from one second to another."""
    shown = screens(lines)
    length = shown[-1][0] + END
    rows = max(len(screen) for _, screen in shown)
    texts, frames = [], []
    for row in range(rows):
        changes = [(0.0, "")]
        for moment, screen in shown:
            if (text := screen[row] if row < len(screen) else "") != changes[-1][1]:
                changes.append((moment, text))
        for number, (since, text) in enumerate(changes):
            if not text:
                continue
            last = number + 1 == len(changes)
            until = length if last else changes[number + 1][0]
            name = f"k{len(frames)}"
            begin, end = 100 * since / length, 100 * until / length
            after = "" if last else f" {end:.2f}% {{ opacity: 0 }}"
            frames.append(f"    @keyframes {name} {{ 0% {{ opacity: 0 }} {begin:.2f}% {{ opacity: 1 }}{after} }}")
            kinds = "shown" + ("" if last else " gone") + (" typed" if text.startswith("$ ") else "")
            y = _MARGIN + _LINE * (row + 1) - 5
            texts.append(
                f'<text x="{_MARGIN}" y="{y}" class="{kinds}" style="animation-name: {name}">{escape(text)}</text>'
            )
    width = 2 * _MARGIN + round(COLUMNS * _COLUMN)
    height = 2 * _MARGIN + _LINE * rows
    commands = escape(" and ".join(COMMANDS))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" role="img">',
        f"  <title>Terminal: {commands}</title>",
        _STYLE % (f"{length:.1f}", "\n".join(frames)),
        f'  <rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" class="ground"/>',
        *texts,
        "</svg>\n",
    ])  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:] == ["record"]:
        CAST.write_text("\n".join(record()) + "\n", encoding="utf-8")
    PICTURE.write_text(drawn(CAST.read_text(encoding="utf-8").splitlines()), encoding="utf-8")
