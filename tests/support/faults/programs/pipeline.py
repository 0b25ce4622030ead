"""Run a pipeline, as `scurry pipeline` does: pipeline.py FILE."""

from __future__ import annotations

import sys
from pathlib import Path

from scurry.sql.pipelines.running import run

if __name__ == "__main__":
    run(Path(sys.argv[1]))
