"""Write what PyFlink answers: `cd tests && python -m support.documented_programs FILE [PAGE ...]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from support.documented_programs import PROGRAMS, answer

found: dict[str, list[str]] = {}
for heading, (modes, _program) in PROGRAMS.items():
    for mode in modes if heading.startswith(tuple(sys.argv[2:]) or "") else ():
        try:
            found[f"{heading} ({mode})"] = answer(heading, mode)
        except Exception as error:
            print(f"{heading} ({mode})", error, file=sys.stderr)
        Path(sys.argv[1]).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
