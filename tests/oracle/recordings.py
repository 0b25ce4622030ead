"""Programs with the output recorded from real Flink next to them.

`AREA/NAME.py` is a PyFlink program that prints; `AREA/NAME.expected` is what PyFlink 2.3 made it print (`record.py`).
Comments among the first lines of a program say how to compare and where it makes sense:

    # compare: multiset | ordered | per-key | last-per-key      (default: multiset)
    # key: REGEX       with one group, for per-key and last-per-key (default: the first word of a line)
    # parallelism: 1   only there
    # modes: streaming batch     BATCH prints the same (default: streaming)
    # timeout: SECONDS           for recording (default: 90)

The format is that of the conformance suite, whose tools run these programs too.
"""

from __future__ import annotations

import collections
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

_DIRECTIVE = re.compile(r"#\s*(compare|key|parallelism|modes|timeout)\s*:\s*(.*?)\s*$")
_DIRECTIVE_LINES = 8
_COMPARISONS = ("multiset", "ordered", "per-key", "last-per-key")

#: Lines that PyFlink and its JVM write to standard output on their own.
_NOISE = re.compile(
    r"^(Job has been submitted with JobID|WARNING:|SLF4J|Setting default log level|To adjust logging level|log4j:"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ +(INFO|WARN|ERROR|DEBUG) )"
)


@dataclass(frozen=True)
class Program:
    """A program and how its output is compared."""

    path: Path
    compare: str = "multiset"
    key: str = r"^\W*(\w+)"
    parallelisms: tuple[int, ...] = (1, 2)
    modes: tuple[str, ...] = ("streaming",)
    timeout: int = 90

    @staticmethod
    def load(path: Path) -> Program:
        """The program at `path` with its directives."""
        found: dict[str, str] = {}
        for line in path.read_text(encoding="utf-8").splitlines()[:_DIRECTIVE_LINES]:
            if match := _DIRECTIVE.match(line):
                found[match[1]] = match[2]
        options: dict[str, Any] = {name: found[name] for name in ("compare", "key") if name in found}
        if options.get("compare", "multiset") not in _COMPARISONS:
            raise ValueError(f"{path}: compare must be one of {_COMPARISONS}, not {options['compare']!r}")
        if "parallelism" in found:
            options["parallelisms"] = (int(found["parallelism"]),)
        if "modes" in found:
            options["modes"] = tuple(found["modes"].replace(",", " ").split())
        return Program(path, timeout=int(found.get("timeout", Program.timeout)), **options)

    @property
    def name(self) -> str:
        """AREA/NAME."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def recording(self) -> Path:
        """Where the output of real Flink is."""
        return self.path.with_suffix(".expected")

    def comparable(self, output: str) -> Any:
        """What two outputs have in common if they are the same in the program's own terms."""
        lines = [line for line in output.splitlines() if line.strip() and not _NOISE.match(line)]
        lines = [re.sub(r"^([\w -]+:)?\d+> ", _without_subtask, line).rstrip() for line in lines]
        if self.compare == "ordered":
            return lines
        if self.compare == "multiset":
            return sorted(lines)
        by_key: dict[str, list[str]] = collections.defaultdict(list)
        for line in lines:
            match = re.search(self.key, line)
            by_key[match[1] if match else ""].append(line)
        return {key: some[-1:] if self.compare == "last-per-key" else some for key, some in sorted(by_key.items())}


def _without_subtask(prefix: re.Match[str]) -> str:
    """`2> ` and `name:2> ` come from print() at a higher parallelism."""
    return f"{prefix[1][:-1]}> " if prefix[1] else ""


def cleaned(output: str) -> str:
    """An output without what the engine said on its own."""
    return "".join(f"{line}\n" for line in output.splitlines() if not _NOISE.match(line))


def programs() -> list[Program]:
    """All programs of all areas."""
    return [Program.load(path) for path in sorted(HERE.glob("*/*.py"))]
