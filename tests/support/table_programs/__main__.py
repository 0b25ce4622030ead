"""Write what PyFlink answers: `cd tests && python -m support.table_programs FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from support.table_programs import PROGRAMS, answer

found: dict[str, list[str]] = {}
for name, (modes, _final, _program) in PROGRAMS.items():
    for mode in modes:
        try:
            found[f"{name} ({mode})"] = answer(name, mode)
        except Exception as raised:
            print(name, mode, type(raised).__name__, str(raised)[:3000], file=sys.stderr)
        Path(sys.argv[1]).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
