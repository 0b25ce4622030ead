"""The files of transcripts; also imported by PyFlink's Python, which has no scurry."""

from __future__ import annotations

import re
from pathlib import Path

TRANSCRIPTS = Path(__file__).parents[2] / "sql" / "statements" / "transcripts"


def text_of(name: str) -> str:
    return (TRANSCRIPTS / f"{name}.sql").read_text(encoding="utf-8")


def is_batch(text: str) -> bool:
    return text.startswith("-- mode: batch")


def is_unordered(text: str) -> bool:
    """Say whether the rows of the answers have no order."""
    return "-- rows: in any order\n" in text


def settings_of(text: str) -> dict[str, str]:
    """Return the settings of a transcript: `-- set KEY=VALUE`."""
    return dict(line.removeprefix("-- set ").split("=", 1) for line in text.splitlines() if line.startswith("-- set "))


def statements(text: str) -> list[str]:
    """Return the statements of a transcript: each ends with `;` at the end of a line."""
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return [part.strip() for part in re.split(r";[ ]*$", "\n".join(lines), flags=re.MULTILINE) if part.strip()]


def write_files(text: str, directory: str) -> None:
    """Write the files of a transcript: `-- file NAME`, then its lines after `--|`."""
    lines: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("-- file "):
            name = line.removeprefix("-- file ").strip()
        elif line.startswith("--|"):
            lines.setdefault(name, []).append(line.removeprefix("--|") + "\n")
    for each, content in lines.items():
        path = Path(directory, each)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(content), encoding="utf-8")


def recorded(name: str) -> list[str]:
    """Return Flink's answer to each statement."""
    text = (TRANSCRIPTS / f"{name}.expected").read_text(encoding="utf-8")
    answers = re.split(r"^> ", text, flags=re.MULTILINE)[1:]
    return [
        answer.removeprefix(statement).strip("\n")
        for answer, statement in zip(answers, statements(text_of(name)), strict=True)
    ]
