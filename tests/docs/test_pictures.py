"""The drawn pictures: as their generator makes them, for light and dark screens, each beside its text."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.docs.pictures import ALL, PICTURES, pictures

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
#: About how many pixels a character takes.
_WIDTH = 6.5


@pytest.mark.parametrize("name", sorted(pictures()))
def test_a_picture_is_what_the_generator_makes(name: str) -> None:
    assert (PICTURES / name).read_text(encoding="utf-8") == pictures()[name]


def test_the_plot_of_ratios_shows_their_history() -> None:
    program = runpy.run_path(str(ROOT / "bench" / "history.py"))
    lines = (ROOT / "bench" / "history.jsonl").read_text(encoding="utf-8").splitlines()
    plot = program["drawn"](lines)
    assert (PICTURES / "ratios.svg").read_text(encoding="utf-8") == plot
    circles = list(ElementTree.fromstring(plot).iter(f"{SVG}circle"))
    assert len(circles) == len(lines)
    assert all(int(circle.attrib["cx"]) < 640 for circle in circles)


def test_the_curves_of_scale_are_the_figures_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    program = runpy.run_path(str(ROOT / "bench" / "curves.py"))
    lines = (ROOT / "bench" / "curves.jsonl").read_text(encoding="utf-8").splitlines()
    figure = program["drawn"](lines)
    assert (PICTURES / "scale.svg").read_text(encoding="utf-8") == figure
    points = {(each["curve"], each["what"], each["count"]) for each in map(json.loads, lines)}
    drawn = list(ElementTree.fromstring(figure).iter(f"{SVG}circle"))
    assert len(drawn) == len(points)
    curves = re.findall(r"^    python bench/scale.py (\S+)", (ROOT / "bench" / "scale.py").read_text("utf-8"), re.M)
    assert {curve for curve, _, _ in points} == set(curves)


@pytest.mark.parametrize("name", sorted(ALL))
def test_the_page_shows_a_picture_once_and_says_what_is_on_it(name: str) -> None:
    page, title = ALL[name][:2]
    shown = (ROOT / "docs" / page).read_text(encoding="utf-8")
    (text,) = re.findall(rf"!\[([^\]]+)\]\((?:\.\./)?pictures/{name}\.svg\)", shown)
    assert text.lower() == title


@pytest.mark.parametrize("name", sorted(pictures()))
def test_all_of_a_picture_is_within_its_frame(name: str) -> None:
    picture = ElementTree.fromstring(pictures()[name])
    width, height = int(picture.attrib["width"]), int(picture.attrib["height"])
    for box in picture.iter(f"{SVG}rect"):
        assert int(box.get("x", 0)) + int(box.attrib["width"]) <= width
        assert int(box.get("y", 0)) + int(box.attrib["height"]) <= height
    for text in picture.iter(f"{SVG}text"):
        begin = int(text.attrib["x"]) if text.get("text-anchor") is None else 0
        assert begin + _WIDTH * len(text.text or "") <= width and int(text.attrib["y"]) <= height


@pytest.mark.parametrize("name", sorted(pictures()))
def test_every_colour_has_one_for_dark_screens(name: str) -> None:
    light, dark = pictures()[name].split("@media (prefers-color-scheme: dark)")
    used = set(re.findall(r'class="(\w+)"', dark))
    assert used <= set(re.findall(r"\.(\w+) \{", light)) & set(re.findall(r"\.(\w+) \{", dark))


@pytest.mark.parametrize("picture", sorted(PICTURES.glob("*.svg")), ids=lambda picture: picture.stem)
def test_every_drawing_has_colours_for_dark_screens(picture: Path) -> None:
    assert "prefers-color-scheme: dark" in picture.read_text(encoding="utf-8")
