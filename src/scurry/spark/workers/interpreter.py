"""The interpreter of workers on the driver's machine."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from pathlib import Path

from scurry.common._process.directories import cache_directory


def worker_python(executable: str = sys.executable) -> str:
    """Return an interpreter for workers on this machine, without Spark's zipped copy of pyspark on its path.

    Spark puts `pyspark.zip` first on every worker's PYTHONPATH. Every process that is not forked from a warm daemon
    compiles the imports from it again, which takes 1.5 s of processor time. If this process has a template
    (`template.py`), the interpreter is a fork of it.
    """
    directory = cache_directory()
    script = directory / f"python-{hashlib.sha256(f'{executable} {__file__}'.encode()).hexdigest()[:12]}"
    python, ask = shlex.quote(executable), shlex.quote(str(Path(__file__).with_name("from_template.py")))
    content = (
        "#!/bin/sh\n"
        'case "$PYTHONPATH" in *pyspark.zip:*) PYTHONPATH="${PYTHONPATH#*pyspark.zip:}"; export PYTHONPATH;; esac\n'
        f'if [ -S "$SCURRY_TEMPLATE" ]; then exec {python} -I -S {ask} {python} "$@"; fi\n'
        f'exec {python} "$@"\n'
    )
    if not script.exists() or script.read_text() != content:
        directory.mkdir(parents=True, exist_ok=True)
        temporary = script.with_suffix(f".{os.getpid()}")
        temporary.write_text(content)
        temporary.chmod(0o755)
        temporary.replace(script)
    return str(script)
