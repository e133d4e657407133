"""What people read: tables, verdicts, the page in two formats."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import get_args

import numpy as np
import pytest

from windvane.errors import StorageFailure, UnknownName
from windvane.experiments.claims import RULE, Claim, Verdict
from windvane.experiments.paper import EXPERIMENTS
from windvane.experiments.paper.differences import DIFFERENCES
from windvane.experiments.report import (
    EARLIER,
    MARKS,
    SETTLED,
    VERDICTS,
    claim_list,
    counts,
    write_html,
    write_markdown,
)
from windvane.experiments.reproduce import ExperimentSummary, summaries
from windvane.experiments.results import Group, Results
from windvane.experiments.sections import Sections
from windvane.experiments.stamp import Stamp
from windvane.experiments.tables import TextTable
from windvane.files import whole, write_text

EVERY = [one for found in DIFFERENCES.values() for one in found]
PNG = b"\x89PNG\r\n\x1a\n not really a picture"


def summary(name="table9", runs=5):
    table = TextTable(("algorithm", "paper", "here"), (("A | B <x>", "1.0", "**2.0**"),), ("a note & more",))
    claims = (
        Claim("A < B.", "holds", "1 & 2"),
        Claim("Always.", "holds in part", "half"),
        Claim("Never.", "does not hold", "<none>"),
        Claim("Perhaps.", "undecided", "few"),
    )
    return ExperimentSummary(
        name,
        "Table 9",
        "A <title>",
        f"windvane reproduce {name}",
        runs,
        50,
        Stamp("0.1", "0123456789ab+", "89abcdef"),
        table,
        claims,
    )


@pytest.fixture
def out(tmp_path):
    for name in ("table9", "figure9"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "figure.png").write_bytes(PNG)
        summary(name).write(tmp_path / name / "summary.json")
    return tmp_path


class Checker(HTMLParser):
    """Tags must nest, and text must have been escaped."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self):
        super().__init__()
        self.open, self.text, self.ids = [], [], []

    def handle_starttag(self, tag, attributes):
        assert tag not in ("x", "none", "title>"), tag
        self.ids += [value for key, value in attributes if key == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_a_summary_survives_its_file(tmp_path):
    summary().write(tmp_path / "summary.json")
    again = ExperimentSummary.read(tmp_path / "summary.json")
    assert json.dumps(again.table.markdown()) == json.dumps(summary().table.markdown())
    assert again.claims == summary().claims
    assert (again.name, again.runs, again.full) == ("table9", 5, 50)


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"name": 1}', "not json"])
def test_a_damaged_summary_is_named(tmp_path, content):
    (tmp_path / "summary.json").write_text(content)
    with pytest.raises(StorageFailure, match=r"summary\.json"):
        ExperimentSummary.read(tmp_path / "summary.json")


def test_summaries_come_in_the_papers_order_and_only_if_they_are_there(out):
    assert [found.name for found in summaries(out, ["figure9", "absent", "table9"])] == ["figure9", "table9"]


def test_the_page_is_well_formed_and_says_everything(out):
    write_html(out / "report.html", out, summaries(out, ["table9", "figure9"]))
    checker = Checker()
    checker.feed((out / "report.html").read_text())
    assert checker.open == []
    text = " ".join(checker.text)
    for expected in ("A <title>", "A | B <x>", "a note & more", "<none>", "does not hold", "5 runs per cell"):
        assert expected in text
    assert "2 hold, 2 hold in part, 2 do not hold, 2 undecided" in text
    assert RULE in text
    assert "? undecided" in text
    assert checker.ids == ["table9", "figure9", "settled"]
    page = (out / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 2
    assert "http://" not in page  # nothing is fetched from elsewhere
    assert "https://" not in page


def test_the_markdown_page_has_its_pictures_and_working_anchors(out, tmp_path):
    page = tmp_path / "docs" / "reproduction.md"
    for name in ("table9", "figure9"):
        Sections(page).keep(summary(name), out)
    write_markdown(page, Sections(page).all(["table9", "figure9"]))
    text = page.read_text()
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (page.parent / picture).read_bytes() == PNG
    anchors = set(re.findall(r'<a id="([^"]+)"></a>', text))
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors
    assert text.index(RULE) < text.index("## ")  # the rule stands before the first verdict
    assert "| 5 of 50 | ✓ ◐ ✗ ? |" in text
    assert "✓ holds, ◐ holds in part, ✗ does not hold, ? undecided, · not tested." in text
    assert "- ? **undecided**: Perhaps. Here: few." in text
    for one in EVERY:
        assert text.count(one.what.replace("|", "\\|")) == 1, one.where
    rows = [
        row for row in text[text.index("| where | what | settled |") :].splitlines() if row.startswith("|")
    ]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}  # a bar in a text is escaped


def test_a_section_below_full_size_says_so_in_its_heading_and_one_that_is_missing_in_the_list(tmp_path):
    page = tmp_path / "page.md"
    some = [summary("table1", 5), summary("ablation", 50)]
    write_markdown(page, some, [EXPERIMENTS[name] for name in ("table1", "table4", "ablation")])
    text = page.read_text()
    assert '## <a id="table1"></a>Table 9: A <title> (5 of 50 runs)\n' in text
    assert '## <a id="ablation"></a>Table 9: A <title>\n' in text
    first, second, third = text[text.index("|:--|:--|--:|:--|") :].splitlines()[1:4]
    assert (first, third) == (
        "| Table 9 | [A <title>](#table1) | 5 of 50 | ✓ ◐ ✗ ? |",
        "| Table 9 | [A <title>](#ablation) | 50 | ✓ ◐ ✗ ? |",
    )
    assert second == "| Table 4, Fig. 13 | Sensitivity to delta_B | 0 of 200 | not run yet |"


def test_a_section_from_before_sections_were_kept_stays_until_there_is_another_one(tmp_path):
    page = tmp_path / "page.md"
    old = '## <a id="table4"></a>Table 4: Sensitivity\n\n50 runs: 0.3\n\n![x](images/reproduction/table4.png)'
    page.write_text(f'# Reproduction\n\n{old}\n\n## <a id="table1"></a>Table 1\n\nold words\n\n## Settled\n')
    both = [EXPERIMENTS[name] for name in ("table1", "table4")]
    texts = []
    for _ in range(2):  # and it is the same when it is written once more
        write_markdown(page, [summary("table1")], both)
        texts.append(page.read_text())
    assert texts[0] == texts[1]
    head, _, rest = old.partition("\n\n")
    assert f"{head}\n\n{EARLIER}\n\n{rest}\n\n## {SETTLED}" in texts[0]
    assert "| [Sensitivity to delta_B](#table4) | 0 of 200 | of earlier code |" in texts[0]
    assert "old words" not in texts[0]
    assert "claims, in the sections that are not of earlier code: 1 holds" in texts[0]
    write_markdown(page, [summary("table1"), summary("table4")], both)
    assert "earlier code" not in page.read_text()


def test_runs_of_earlier_code_are_told(tmp_path):
    page = tmp_path / "page.md"
    write_markdown(page, [replace(summary(), earlier=1200)])
    stamped = "Computed by Windvane 0.1, commit 0123456789ab+, code 89abcdef."
    assert f"{stamped} Of its runs 1,200 were made by earlier code; of each cell" in page.read_text()
    write_markdown(page, [summary()])
    assert "earlier code" not in page.read_text()


def test_a_sentence_of_the_markdown_page_has_one_full_stop():
    ended, open_ended = Claim("A.", "holds", "1 of 2."), Claim("A.", "holds", "1 of 2")
    assert claim_list([ended, open_ended]) == "\n".join(["- ✓ **holds**: A. Here: 1 of 2."] * 2)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    page = tmp_path / "page.txt"
    write_text(page, "before")

    def fail():
        with whole(page) as draft:
            draft.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert page.read_text() == "before"
    assert list(tmp_path.iterdir()) == [page]


def test_every_verdict_has_its_mark_colour_and_class():
    assert set(VERDICTS) == set(get_args(Verdict))
    assert len(set(MARKS.values())) == len(MARKS)


def test_contradictions_are_listed_apart_from_silences():
    assert len(DIFFERENCES) == 4
    assert next(iter(DIFFERENCES)) == "Where the paper says two things"
    assert list(DIFFERENCES)[2] == "What is not in the text"
    assert all(DIFFERENCES.values())
    said = " ".join(f"{one.what} {one.settled}" for one in EVERY)
    assert "not public" not in said
    assert "not published" not in said
    assert "not released" not in said  # the supplement of the paper may well have it


def test_what_is_said_of_the_paper_names_a_place_in_it():
    places = r"Alg\. \d|Appendix [A-H]|Corollary 1|Eq\. 5|Fig\. \d|Lemma \d|Proof of|Section \d|Sketch|Table \d|Theorem 1"
    assert all(re.match(places, one.where) for one in EVERY)
    assert len({(one.where, one.what) for one in EVERY}) == len(EVERY)


def test_a_reset_that_n_high_forces_keeps_the_last_point_in_algorithm_1():
    """What is computed differs from the letter there, so the list has to say so."""
    (one,) = (one for one in EVERY if one.where == "Alg. 1, Table 1")
    assert "every reset" in one.what
    assert "against the letter" in one.settled


def test_one_claim_is_counted_in_the_singular():
    one = ExperimentSummary(
        "a",
        "b",
        "c",
        "d",
        1,
        1,
        Stamp("0", "unknown", "0"),
        TextTable(("x",), ()),
        (Claim("A.", "does not hold", ""),),
    )
    assert counts([one]) == "1 does not hold"


def test_groups_give_medians_quartiles_curves_and_resets():
    runs = tuple({"regret": np.full(4, level), "resets": np.arange(int(level))} for level in (1.0, 2.0, 3.0))
    group = Group((0, 1, 2), runs)
    assert group.median == 2.0
    assert group.quartiles == (1.5, 2.5)
    assert group.total.tolist() == [4.0, 8.0, 12.0]
    assert group.resets.tolist() == [1.0, 2.0, 3.0]
    ramp = Group((0,), ({"regret": np.array([1.0, 3.0]), "resets": np.array([])},))
    assert ramp.curve.tolist() == [[1.0, 2.0]]


def test_results_know_their_rows_and_columns():
    group = Group((0,), ({"regret": np.ones(2), "resets": np.array([])},))
    results = Results({("A", "x"): group, ("A", "y"): group, ("B", "y"): group})
    assert (results.rows, results.columns, results.runs) == (["A", "B"], ["x", "y"], 1)
    assert list(results.column("y")) == ["A", "B"]
    with pytest.raises(UnknownName, match="C"):
        results["C", "x"]
