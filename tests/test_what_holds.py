"""The page with one line per claim: complete, up to date, and no figure hides which code it is of."""

import re
from pathlib import Path

import pytest
from scripts import script

from windvane.experiments.stamp import section

ROOT = Path(__file__).resolve().parents[1]
WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}


@pytest.fixture(scope="module")
def tool():
    return script("docs/tools/what_holds.py")


@pytest.fixture(scope="module")
def page():
    return (ROOT / "docs" / "what-holds.md").read_text(encoding="utf-8")


def test_it_is_up_to_date(tool, page):
    assert tool.page(page) == page, "run python docs/tools/what_holds.py"


def test_each_claim_of_the_readme_has_its_line(tool, page):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    leads = [bullet["lead"] for bullet in tool.BULLET.finditer(section(readme, "Five claims"))]
    assert len(leads) == 5
    for lead in leads:
        assert len(re.findall(rf"^\| \*\*{re.escape(lead)}\*\*.* \|$", page, re.MULTILINE)) == 1


def numbers(text):
    found = [float(each) for each in re.findall(r"\d+(?:\.\d+)?", text)]
    return found + [float(WORDS[word]) for word in re.findall(r"\w+", text) if word in WORDS]


def test_the_figures_of_the_readme_are_those_of_its_pages(tool):
    """As far as the README rounds them."""
    for line in tool.readme():
        for wanted in numbers(line.claim):
            digits = len(f"{wanted:g}".partition(".")[2])
            assert wanted in {round(each, digits) for each in numbers(line.figure)}, (line.claim, line.figure)


def test_each_claim_of_the_pages_that_commands_write_has_its_line(tool, page):
    for name, lines in (("reproduction.md", tool.reproduced()), ("triggers.md", tool.triggers())):
        stated = re.findall(r"^- . \*\*", (ROOT / "docs" / name).read_text(encoding="utf-8"), re.MULTILINE)
        assert len(lines) == len(stated) > 0
        assert all(line.markdown() in page for line in lines)


def test_each_line_says_by_which_command_and_of_which_code(tool):
    lines = [line for made in tool.BLOCKS.values() for line in made()]
    for line in lines:
        assert line.command.startswith("`")
        assert line.figure
        assert line.code == tool.PRESENT or re.fullmatch(
            r"(\S+, [0-9a-f]+\+?|\S+, unknown|not stamped)(; .+)?", line.code
        )
        assert len(re.findall(r"(?<!\\)\|", line.markdown())) == len(tool.HEAD) + 1


def test_what_is_of_few_runs_is_not_decided(tool):
    part = "- ✓ **holds**: A is better. Here: 1 of 2.\n"
    (few,) = tool.stated(part, "make a", "[a](a.md)", "not stamped", runs=4)
    assert few.verdict == "undecided"
    assert "4 runs; *holds* by an earlier rule" in few.figure
    (many,) = tool.stated(part, "make a", "[a](a.md)", "not stamped")
    assert (many.verdict, many.figure, many.claim) == ("holds", "1 of 2", "A is better.")


def test_a_stamp_is_shown_and_a_missing_one_is_not_hidden(tool):
    assert tool.code_of("Computed by Windvane 1.0.0, commit 0123, code 89ab.") == "1.0.0, 0123"
    assert tool.code_of("Measured once.") == "not stamped"


def test_a_long_figure_is_cut_between_its_parts(tool):
    assert tool.shortened("short") == "short"
    cut = tool.shortened("0.123 of a; " * 40)
    assert len(cut) <= tool.LONG + 2
    assert cut.endswith("of a …")


def test_tables_are_read_by_the_names_of_their_columns(tool):
    text = "| a | b | c |\n|:--|--:|--:|\n| 1 | 2 | 3 |\n\n| a | d |\n|---|---|\n| 9 | 9 |\n"
    assert list(tool.rows(text, "a", "c")) == [["1", "3"]]
    assert list(tool.rows(text, "d")) == [["9"]]
