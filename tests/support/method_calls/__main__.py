"""Write what PyFlink answers: `cd tests && python -m support.method_calls FILE`, with words for some groups only."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from support.method_calls import answers, groups

target = Path(sys.argv[1])
found = json.loads(target.read_text()) if target.exists() else {}
for group in groups():
    if sys.argv[2:] and not any(word in group.split() for word in sys.argv[2:]):
        continue
    with tempfile.TemporaryDirectory() as directory:
        found[group] = [list(each) for each in answers(group, Path(directory))]
lines = [f"{json.dumps(group)}: [\n" + ",\n".join(json.dumps(each) for each in found[group]) + "\n]" for group in found]
target.write_text("{\n" + ",\n".join(lines) + "\n}\n")
