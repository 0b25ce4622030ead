"""Programs of the docs run in a page by Pyodide: under node here, and in a browser where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import TESTS
from support.browser import chromium
from support.docs.pyodide import InPyodide, collected, run_in_pyodide
from support.docs.serving import served

DOCS = TESTS.parent / "docs"
EXAMPLE = re.compile(r"^```python\n((?:(?!```)[^\n]*\n)*)```\n+```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: Pages whose programs have a button, as in page.js.
PAGES = ("quickstart", "playground", "patterns")
SIMULATED = """
import random
from scurry.common import Types
from scurry.testing.simulation import KINDS, Program, Simulation

VISIT = Types.TUPLE([Types.STRING(), Types.INT()])

def visits(count, chance):
    return [(name := chance.choice("ab"), (name, 1), 1000 * number) for number in range(count)]

def build(env, source, sink):
    stream = env.from_source(source, None, "visits", VISIT).uid("visits")
    totals = stream.key_by(lambda v: v[0], Types.STRING()).reduce(lambda a, b: (a[0], a[1] + b[1]))
    totals.uid("total").sink_to(sink).uid("sink")

def expected(given):
    totals, found = {"a": 0, "b": 0}, []
    for name, (_, count), _ in given:
        totals[name] += count
        found.append((name, totals[name]))
    return found

kinds = {kind: weight for kind, weight in KINDS.items() if kind not in ("rescale", "savepoint", "stop")}
for run in Simulation(Program("total", visits, build, expected), kinds, records=10).check(schedules=8):
    print(run.digest)
"""


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return collected(tmp_path_factory.mktemp("playground"))


def test_the_pages_with_buttons_are_those_that_are_tested() -> None:
    script = (DOCS / "playground" / "page.js").read_text(encoding="utf-8")
    assert f"({'|'.join(PAGES)})\\.html$" in script


@pytest.mark.slow
def test_programs_of_the_pages_print_the_same_in_pyodide(playground: Path, tmp_path: Path) -> None:
    examples = [each for page in PAGES for each in EXAMPLE.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))]
    programs = []
    for number, (code, _) in enumerate(examples):
        program = tmp_path / f"example{number}.py"
        program.write_text(code, encoding="utf-8")
        programs.append(InPyodide(program))
    answers = run_in_pyodide(playground, programs, tmp_path)
    for (_, expected), answer in zip(examples, answers, strict=True):
        assert (answer["status"], answer["out"]) == (0, expected), answer["errors"]
    assert len(examples) > 8


@pytest.mark.slow
def test_a_seed_has_the_same_hash_in_pyodide(playground: Path, tmp_path: Path) -> None:
    """Savepoints are left out: with another Arrow their files have other sizes, and Python 3.12 deletes otherwise."""
    program = tmp_path / "simulated.py"
    program.write_text(SIMULATED, encoding="utf-8")
    here = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=600)
    (there,) = run_in_pyodide(playground, [InPyodide(program, parallelism=None)], tmp_path)
    assert (here.returncode, there["status"]) == (0, 0), here.stderr + there["errors"]
    assert len(set(there["out"].split())) == 8
    assert there["out"] == here.stdout


@pytest.mark.slow
def test_the_quickstart_has_a_result_in_seconds_and_runs_without_a_network(playground: Path, tmp_path: Path) -> None:
    """The page as the theme marks it up: the first program of the quickstart, and the scripts of the site."""
    code, expected = EXAMPLE.findall((DOCS / "quickstart.md").read_text(encoding="utf-8"))[0]
    site = tmp_path / "site"
    shutil.copytree(playground, site / "playground")
    shutil.copytree(DOCS / "playground", site / "playground", dirs_exist_ok=True)
    shutil.copy(DOCS / "offline.js", site)
    text = code.replace("&", "&amp;").replace("<", "&lt;")
    (site / "quickstart.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>Quickstart</title><link rel="icon" href="data:,">'
        f'<div class="language-python highlight"><pre><code>{text}</code></pre></div>'
        '<script src="playground/page.js"></script>'
    )
    with served(site) as address, chromium() as browser:
        context = browser.new_context()
        page = context.new_page()
        hosts: list[str] = []
        context.on(
            "request", lambda asked: None if asked.url.startswith((address, "data:")) else hosts.append(asked.url)
        )
        began = time.monotonic()
        page.goto(f"{address}/quickstart.html")
        page.get_by_role("button", name="Run").click(timeout=60_000)
        output = page.locator(".playground-output")
        output.get_by_text("('be', 2)").wait_for(timeout=120_000)
        seconds = time.monotonic() - began
        print(json.dumps({"seconds to the first result": round(seconds, 1)}))
        assert output.inner_text().startswith(expected)
        page.wait_for_function("document.documentElement.dataset.playground === 'offline'", timeout=120_000)
        context.set_offline(True)
        page.reload()
        page.get_by_role("button", name="Run").wait_for(timeout=60_000)
        page.locator("code").fill(code.replace("be", "see"))
        page.get_by_role("button", name="Run").click()
        output.get_by_text("('see', 2)").wait_for(timeout=120_000)
        assert [url for url in hosts if not url.startswith((address, "data:"))] == []
