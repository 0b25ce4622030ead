"""The front page of the documentation: the README as far as "Read on", then the list of all pages.

PYTHONPATH=tests python -m support.docs.front_page    # write docs/index.md anew
"""

from __future__ import annotations

import re

from support import TESTS

README, INDEX = TESTS.parent / "README.md", TESTS.parent / "docs" / "index.md"
_SOURCE = "https://github.com/scurry-project/scurry"
_LIST = "## All pages\n"


def front_page() -> str:
    """Return the text of docs/index.md as it should be."""
    readme = README.read_text(encoding="utf-8").partition("## Read on\n")[0]
    inside = re.sub(rf"\({_SOURCE}/(?:blob|raw)/main/docs/", "(", readme)
    return inside + _LIST + INDEX.read_text(encoding="utf-8").partition(_LIST)[2]


if __name__ == "__main__":
    INDEX.write_text(front_page(), encoding="utf-8")
