"""The notebook that is the tutorial: its cells run in order, and what it shows is what they give."""

import json
import re

import pytest
from scripts import script

NUMBER = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?")


@pytest.fixture(scope="module")
def tool():
    return script("docs/tools/notebook.py")


def form(output):
    """What is said, but for the numbers, which differ in their last digits from machine to machine."""
    text = "".join(output.get("text", ())) or "".join(output["data"]["text/plain"])
    return re.sub(r"\([^)]*\)$", "", NUMBER.sub("#", text).splitlines()[0]), sorted(output.get("data", ()))


def test_the_tutorial_runs_and_shows_what_it_gives(tool):
    pytest.importorskip("matplotlib")
    notebook = json.loads(tool.NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    kept = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    given = tool.run(notebook)
    assert [[form(each) for each in cell] for cell in given] == [
        [form(each) for each in cell] for cell in kept
    ]
    shown = {kind for cell in kept for each in cell for kind in each.get("data", ())}
    assert {"image/png", "text/html"} <= shown


def test_the_story_is_all_there(tool):
    """Units, a trial that failed, and a reset that can be read."""
    notebook = json.loads(tool.NOTEBOOK.read_text(encoding="utf-8"))
    text = json.dumps(notebook["cells"], ensure_ascii=False)
    for words in ("°C", "opt.fail(", "1 failed", "a sudden change at step", "describe_hypothesis"):
        assert words in text
