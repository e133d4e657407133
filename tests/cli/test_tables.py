"""One renderer draws the tables of the shell."""

import re
from io import StringIO
from pathlib import Path

import pytest

import windvane
from windvane.cli.tables import draw

console = pytest.importorskip("rich.console")


def drawn(width=60, **more):
    out = StringIO()
    page = console.Console(file=out, width=width)
    draw(page, ("name", "score"), [("[red]a[/red]", "1.0"), ("b", "12.5")], **more)
    return out.getvalue()


def test_nothing_in_a_cell_is_markup_and_figures_are_to_the_right():
    lines = drawn(title="Scores").splitlines()
    assert lines[0].strip() == "Scores"
    assert any("[red]a[/red]" in line and line.rstrip(" │|").endswith(" 1.0") for line in lines)
    assert any(line.rstrip(" │|").endswith("12.5") for line in lines)


def test_without_a_frame_there_are_columns_and_nothing_else():
    assert [line.rstrip() for line in drawn(frame=False).splitlines()] == [
        "name          score",
        "[red]a[/red]    1.0",
        "b              12.5",
    ]


@pytest.mark.parametrize("width", [33, 36, 39, 45, 60])
def test_no_word_is_broken_where_there_is_room_for_each(width):
    out = StringIO()
    headings, row = ("algorithm", "violated", "and did"), ("gp-ucb", "heat <= 80", "(82–100) of 18")
    draw(console.Console(file=out, width=width), headings, [row])
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    shown = [word for line in lines for word in re.split(r"[\s│┃|]+", line)]
    assert {word for cell in (*headings, *row) for word in cell.split()} <= {*shown}


def test_every_other_file_calls_it():
    root = Path(windvane.__file__).parent
    files = [file for file in root.rglob("*.py") if "rich.table" in file.read_text()]
    assert [file.relative_to(root).as_posix() for file in files] == ["cli/tables.py"]
