"""The examples of docs/sqlalchemy.md do what they say."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from sqlalchemy.dialects import registry

PAGE = Path(__file__).parents[2] / "docs" / "sqlalchemy.md"


def test_the_examples_of_the_page_do_what_it_says() -> None:
    # The entry point of pyproject.toml, which an installation that is older has not.
    registry.register("scurry", "scurry.dbapi.sqlalchemy", "ScurryDialect")
    text = PAGE.read_text(encoding="utf-8")
    examples = "".join(re.findall(r"^```pycon\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, str(PAGE), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    output: list[str] = []
    runner.run(test, out=output.append)
    assert test.examples
    assert not output, "".join(output)
