"""The texts of the drawings in docs/, as a browser sets them: whole, within their boxes, and not over each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.slow

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
#: The frames of an animation lie over each other.
DRAWINGS = sorted(set(PICTURES.glob("*.svg")) - {PICTURES / "terminal.svg"})

_PROBLEMS = """
svg => {
  const problems = [], boxes = (name) => [...svg.querySelectorAll(name)].map((node) => [node, node.getBBox()]);
  const frame = svg.viewBox.baseVal, texts = boxes('text');
  const right = (box) => box.x + box.width, bottom = (box) => box.y + box.height;
  const crossing = (a, b) => Math.min(right(a) - b.x, right(b) - a.x, bottom(a) - b.y, bottom(b) - a.y);
  const within = (a, b) => a.x >= b.x && a.y >= b.y - 2 && right(a) <= right(b) && bottom(a) <= bottom(b) + 2;
  texts.forEach(([text, box], at) => {
    const said = text.textContent;
    if (box.x < 0 || box.y < -2 || box.x + box.width > frame.width || box.y + box.height > frame.height + 2)
      problems.push(`${said} is cut`);
    for (const [other, its] of texts.slice(at + 1))
      if (crossing(box, its) > 3) problems.push(`${said} over ${other.textContent}`);
    for (const [shape, its] of [...boxes('circle'), ...boxes('rect')])
      if (crossing(box, its) > 1 && !within(box, its)) problems.push(`${said} over the edge of a ${shape.tagName}`);
  });
  return problems;
}
"""


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda drawing: drawing.stem)
def test_texts_of_a_drawing_do_not_overlap(drawing: Path, page: Page) -> None:
    page.set_content(drawing.read_text(encoding="utf-8"))
    assert page.locator("svg").evaluate(_PROBLEMS) == []
