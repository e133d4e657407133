"""What computed a page, and whether that is the code as it is now."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from scripts import script

from windvane.experiments import stamp as stamping
from windvane.experiments.experiment import Setting
from windvane.experiments.reproduce import (
    CellRecord,
    ExperimentSummary,
    first_runs,
    planned,
    section_stamp,
)
from windvane.experiments.stamp import Stamp, bench_stamp, section, stamp, stamps
from windvane.experiments.tables import TextTable

ROOT = Path(__file__).parents[2]
NOW = Stamp("1.0", "0123456789ab", "89abcdef")


@pytest.fixture(scope="module")
def tool():
    return script("docs/tools/evidence.py")


def test_a_stamp_is_read_back_from_a_page():
    assert stamps(f"# Title\n\nWritten by `x`, not by hand. {NOW}\n\n{NOW} And more.") == [NOW, NOW]
    assert stamps("Windvane 1.0. Nothing else.") == []
    here = stamp()
    assert stamps(str(here)) == [here]


def test_a_stamp_knows_the_commit_and_whether_something_was_changed_since(tmp_path, monkeypatch):
    def git(*words):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        return subprocess.run(
            ["git", "-C", tmp_path, *identity, *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    monkeypatch.setattr(stamping, "root", lambda: tmp_path)
    assert stamping.commit() == "unknown"  # no checkout at all
    git("init", "-q")
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "other").write_text("")
    git("add", "other")
    git("commit", "-q", "-m", "one")
    assert stamping.commit() == "unknown"  # the package is not what the checkout is of
    git("add", "-A")
    git("commit", "-q", "-m", "two")
    assert stamping.commit() == git("rev-parse", "--short=12", "HEAD")
    (tmp_path / "__init__.py").write_text("x = 1")
    assert stamping.commit().endswith("+")


def test_a_page_is_out_of_date_if_any_part_of_it_is_of_other_code(tool):
    other = Stamp("1.0", "ba9876543210", "00000000")
    assert tool.age([NOW, NOW], NOW) == ""
    assert tool.age([Stamp("0.9", "ffff", NOW.code)], NOW) == ""  # a commit that touched words only
    assert tool.age([], NOW).startswith("no stamp")
    assert tool.age([NOW, other], NOW) == "computed by other code (commit ba9876543210)"


def test_exactly_what_is_out_of_date_is_brought_up_to_date(tool, tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(tool, "SECTIONS", {})
    for page, text in zip(tool.PAGES, (str(NOW), "old", "old"), strict=True):
        (tmp_path / page.path).write_text(text)
    called = []

    def run(command, **_):
        called.append(command[1:])
        return subprocess.CompletedProcess(command, int("reproduce" in command))

    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "stamp", lambda: NOW)
    monkeypatch.setattr(tool.subprocess, "run", run)
    monkeypatch.delenv("WINDVANE_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", ["evidence"])
    tool.main()
    said = capsys.readouterr().out
    assert f"{tool.PAGES[0].path}: up to date" in said
    assert "10 hours" in said
    assert called == []
    monkeypatch.setattr(sys, "argv", ["evidence", "--run"])
    with pytest.raises(SystemExit, match="--data FOLDER"):
        tool.main()
    assert called == []
    monkeypatch.setattr(sys, "argv", ["evidence", "--run", "--data", "mine"])
    with pytest.raises(SystemExit, match="ended with 1; finished runs are kept"):
        tool.main()
    assert [words[0] for words in called] == ["bench", "docs/tools/what_holds.py", "reproduce"]
    assert all("mine" in words for words in called if len(words) > 1)


def test_sections_of_the_reproduction_are_listed_with_runs_age_and_hours(tool, tmp_path, monkeypatch, capsys):
    path = "docs/reproduction.md"
    (tmp_path / "docs").mkdir()
    sections = tool.Sections(tmp_path / path)
    sections.make()
    names = ["theory", "table1", "ablation", "rate-change", "temperature", "table3"]
    page = tool.ReproductionPage(path, ("windvane", "reproduce", *names), 1.0)
    text = []
    for name in names[1:]:
        one = tool.EXPERIMENTS[name]
        cells = one.cells(Setting(synthetic=True))
        records = tuple(
            CellRecord(trial.task.name, trial.algorithm.name, trial.measure.name, trial.code, "")
            for trial in first_runs(cells, 0)
        )
        if name == "table1":  # work on auto
            records = tuple(
                replace(cell, code="old") if cell.algorithm == "auto" else cell for cell in records
            )
        runs = 20 if name in ("ablation", "table3") else one.runs
        plan = "of another time" if name == "rate-change" else planned(cells, 0)
        stamped = section_stamp(records)
        table = TextTable(("a",), ())
        sections.write(
            ExperimentSummary(
                name, one.source, one.title, "", runs, one.runs, stamped, table, (), plan, records
            )
        )
        (sections.images / f"{name}.png").write_bytes(b"")
        text.append(f'## <a id="{name}"></a>{one.source}\n\n{stamped}\n')
    (tmp_path / path).write_text("\n".join(text))
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "PAGES", (page,))
    monkeypatch.setattr(tool, "SECTIONS", {})
    monkeypatch.delenv("WINDVANE_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", ["evidence"])
    tool.main()
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("(theory): no section with a stamp, 50 runs per cell wanted; 2 minutes")
    lines = {name: next(line for line in said if f"({name})" in line) for name in names}
    assert lines["temperature"].endswith(" 50 of 50 runs per cell: up to date")
    assert re.search(
        r"50 of 50 runs per cell: 3 of 36 cells are of other code \(auto\); 6 min", lines["table1"]
    )
    assert lines["ablation"].endswith("20 of 50 runs per cell: it has 20 of 50 runs per cell; 1 minute")
    assert "its cells, seeds or data were others" in lines["rate-change"]
    assert "it has 20 of 50 runs per cell" in lines["table3"]  # of which the data are not there
    (tmp_path / path).write_text("another page")
    tool.main()
    assert "50 of 50 runs per cell: the page does not have it" in capsys.readouterr().out


def test_the_commands_are_ones_that_the_shell_knows(tool):
    from windvane.cli.main import parser

    for page in tool.PAGES:
        parser().parse_args(page.filled("folder")[1:])
        assert (ROOT / page.path).is_file()


def test_a_section_is_what_stands_under_its_heading():
    page = "# Page\n\n## Measured\n\none\n\n### More\n\ntwo\n\n## Measured elsewhere\n\nthree\n"
    assert section(page, "Measured") == "## Measured\n\none\n\n### More\n\ntwo\n\n"
    assert section(page, "More") == "### More\n\ntwo\n\n"
    assert section(page, "Measured elsewhere") == "## Measured elsewhere\n\nthree\n"
    assert section(page, "Nothing") is None


def test_every_section_with_figures_is_there_and_names_its_command(tool):
    """The heading is in the page, the command in the section, and what it needs in the repository."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name, each in tool.SECTIONS.items():
        text = each.text()
        assert text, name
        for word in each.command.split():
            if word.endswith(".py"):
                assert (ROOT / word).is_file(), name
                assert word in text or Path(word).name in (ROOT / each.page).read_text(encoding="utf-8"), name
        if each.command.startswith("make "):
            assert f"\n{each.command.split()[1]}:" in makefile, name
        assert all((ROOT / "src/windvane" / part).exists() for part in each.also), name


def test_sections_are_listed_with_their_command_and_how_long_it_takes(tool, tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "PAGES", ())
    monkeypatch.setattr(tool, "stamp", lambda: NOW)
    monkeypatch.setattr(stamping, "commit", lambda: "ba9876543210")
    fresh, stale, bare = (
        tool.Section(f"docs/{name}.md", "Measured", f"make {name}", 0.75, written=name != "bare")
        for name in ("fresh", "stale", "bare")
    )
    monkeypatch.setattr(tool, "SECTIONS", {"fresh": fresh, "stale": stale, "bare": bare})
    for each, stamped in ((fresh, fresh.now()), (stale, NOW), (bare, "nothing")):
        (tmp_path / each.page).write_text(f"# Page\n\n## Measured\n\n{stamped}\n\n## Other\n\n{NOW}\n")
    called = []

    def run(command, **_):
        called.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(tool.subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["evidence", "--run"])
    tool.main()
    said = capsys.readouterr().out
    assert "docs/fresh.md, Measured: up to date\n" in said
    assert (
        "docs/stale.md, Measured: computed by other code (commit 0123456789ab); make stale, 45 minutes"
        in said
    )
    assert "docs/bare.md, Measured: no stamp" in said
    assert "About 1.5 hours of an idle machine" in said
    assert called == []  # times are measured when somebody asks for them by name
    monkeypatch.setattr(sys, "argv", ["evidence", "--run", "docs/stale.md", "docs/bare.md"])
    tool.main()
    assert called == [["make", "stale"], [sys.executable, "docs/tools/what_holds.py"]]
    assert "run make bare, and put its figures and its stamp into the page" in capsys.readouterr().out


def test_a_stamp_of_a_measurement_knows_what_else_it_is_about():
    assert bench_stamp().code != bench_stamp("service").code != bench_stamp("study").code
    assert bench_stamp("service") == bench_stamp("service")
