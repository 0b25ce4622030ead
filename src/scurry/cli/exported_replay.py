"""Write a captured micro-batch as a test of pytest, with a copy of the capture."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from pathlib import Path

from scurry.cli.output import time_text
from scurry.errors import ReplayError
from scurry.runtime.replay.files import JOB, PLAN, SOURCES, Capture, Start, write_private

_HEAD = '''"""{what}, as captured {when}.

Written by `scurry replay --export`.
"""

from pathlib import Path

{imports}

CAPTURED = Path(__file__).with_name({directory!r})
#: The functions that run: None for those that were captured, or the program's file to run them as they are now.
PROGRAM = {program!r}
'''

_ENDED = """

def {name}() -> None:
    replayed = replay_batch(CAPTURED, {batch}, {subtask}, operator={operator!r}, program=PROGRAM)
    assert replayed.error is None
    assert replayed.differences == []
"""

_FAILED = """

def {name}() -> None:
    replayed = replay_batch(CAPTURED, {batch}, {subtask}, operator={operator!r}, program=PROGRAM)
    # Once the program is mended, name it above, and expect `replayed.error is None` and the right `replayed.records`.
    assert {error!r} in str(replayed.error)
    assert replayed.differences == []
"""


def write_test(start: Start, captures: list[Capture], file: Path, program: str | None) -> None:
    """Write a test, and its captures into a directory beside it that only this user may read.

    Args:
        program: What the test runs the functions of; None for those that were captured.

    Raises:
        ReplayError: The file is there already, or is no Python file.
    """
    target = file.with_suffix(".replay")
    if file.suffix != ".py":
        raise ReplayError(f"--export {file}: a test of pytest is a file test_NAME.py")
    for path in (file, target):
        if path.exists():
            raise ReplayError(f"--export {file}: {path} exists already; name another file, or delete it first")
    try:
        _copy(start, captures, target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    job, batch = start.job["name"], captures[0].batch
    imports = ["from scurry.testing import replay_batch"]
    if start.job.get("aliased"):
        imports.insert(0, "import scurry.pyflink_alias  # functions may import pyflink")
    text = _HEAD.format(
        what=f"Micro-batch {batch} of the job {job!r}".replace('"', "'").replace("\\", "/"),
        when=time_text(captures[0].captured_ms),
        imports="\n".join(imports),
        directory=target.name,
        program=program,
    )
    for capture in captures:
        template = _ENDED if capture.error is None else _FAILED
        text += template.format(
            name=_name_of(capture),
            batch=capture.batch,
            subtask=capture.subtask,
            operator=capture.uid,
            error=capture.error,
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _copy(start: Start, captures: list[Capture], target: Path) -> None:
    """Copy captures with their plan; each is read before, so that the test does not fail for that."""
    inner = target / posixpath.basename(start.path)
    for capture in captures:
        start.read(capture)
    names = [PLAN, *(capture.name for capture in captures)]
    for name in names:
        with start.fs.open_input(posixpath.join(start.path, name)) as stream:
            write_private(str(inner / name), stream.read())
    write_private(str(inner / SOURCES), json.dumps(start.sources()).encode())
    write_private(str(inner / JOB), json.dumps(start.job).encode())
    target.chmod(0o700)


def _name_of(capture: Capture) -> str:
    operator = re.sub(r"\W+", "_", capture.operator).strip("_").lower() or "operator"
    return f"test_batch_{capture.batch}_of_{operator}_{capture.number}_in_subtask_{capture.subtask}"
