"""One page with everything that was reproduced: for a browser, or as Markdown for the documentation."""

from __future__ import annotations

import base64
import html
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from windvane.experiments.claims import RULE, Claim, Verdict
from windvane.experiments.experiment import Experiment
from windvane.experiments.paper.differences import DIFFERENCES
from windvane.experiments.reproduce import ExperimentSummary
from windvane.experiments.stamp import section_at
from windvane.experiments.tables import line
from windvane.files import write_text


class Shown(NamedTuple):
    """How a verdict is shown: its mark, its class in HTML, its colour in a shell, and of several claims."""

    mark: str
    name: str
    colour: str
    plural: str


VERDICTS: dict[Verdict, Shown] = {
    "holds": Shown("✓", "yes", "green", "hold"),
    "holds in part": Shown("◐", "part", "yellow", "hold in part"),
    "does not hold": Shown("✗", "no", "red", "do not hold"),
    "undecided": Shown("?", "open", "blue", "undecided"),
    "not tested": Shown("·", "none", "dim", "not tested"),
}
MARKS = {verdict: shown.mark for verdict, shown in VERDICTS.items()}
TITLE = "Event-triggered time-varying Bayesian optimisation, reproduced"
SETTLED = "The paper's contradictions, slips and silences, and how each was settled"
OLD = "of earlier code"
EARLIER = "*Of earlier code, and perhaps of fewer runs than the paper's; not computed anew yet.*"
STYLE = """
:root { color-scheme: light dark;
  --ink: #1b1b1b; --soft: #5c5c5c; --line: #d7d7d7; --paper: #fff; --band: #f5f5f3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececec; --soft: #a8a8a8; --line: #3c3c3c; --paper: #161616; --band: #202020; }
  img { background: #fff; border-radius: 6px; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  padding: 1.5rem; max-width: 1180px; }
h1 { margin: .2em 0; } h2 { margin: 2.6em 0 .2em; border-top: 1px solid var(--line); padding-top: 1em; }
.soft, .note, figcaption { color: var(--soft); font-size: .88rem; }
nav { columns: 2 22rem; font-size: .92rem; } nav a { color: inherit; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; margin: .8em 0; }
th, td { padding: .3em .7em; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { background: var(--band); }
table.claims td, table.claims th { text-align: left; white-space: normal; vertical-align: top; }
table.claims { width: 100%; } td.verdict { white-space: nowrap !important; font-weight: 600; }
.yes { color: #00805d; } .part { color: #b07500; } .no { color: #c8441b; }
.open { color: #3f6fb5; } .none { color: var(--soft); }
img { max-width: 100%; height: auto; }
code { background: var(--band); padding: .1em .35em; border-radius: 4px; }
"""


def counts(summaries: Sequence[ExperimentSummary]) -> str:
    """How many claims hold.

    >>> counts([])
    'no claims'
    """
    found = Counter(claim.verdict for summary in summaries for claim in summary.claims)
    parts = [f"{found[v]} {v if found[v] == 1 else VERDICTS[v].plural}" for v in VERDICTS if found[v]]
    return ", ".join(parts) or "no claims"


def write_html(path: Path, out: Path, summaries: Sequence[ExperimentSummary]) -> None:
    """One file, pictures inside: it can be sent and opened anywhere."""
    links = "".join(
        f"<div><a href='#{s.name}'>{html.escape(s.source)}: {html.escape(s.title)}</a></div>"
        for s in summaries
    )
    body = "".join(_section(summary, out) for summary in summaries)
    settled = "".join(
        f"<tr><th colspan='3'>{html.escape(group)}</th></tr>"
        + "".join(
            "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in one) + "</tr>" for one in found
        )
        for group, found in DIFFERENCES.items()
    )
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{TITLE}</title><style>{STYLE}</style></head><body>
<h1>{TITLE}</h1>
<p>The tables and figures of the paper, computed by Windvane {html.escape(_version(summaries))}; the paper's
figures beside ours. Of its claims: {counts(summaries)}.</p>
<p>{html.escape(RULE)}</p>
<nav>{links}<div><a href='#settled'>{SETTLED}</a></div></nav>
{body}
<h2 id="settled">{SETTLED}</h2>
<div class="scroll"><table class="claims"><thead><tr><th>where</th><th>what</th><th>settled</th></tr></thead>
<tbody>{settled}</tbody></table></div>
</body></html>
"""
    write_text(path, page)


def _version(summaries: Sequence[ExperimentSummary]) -> str:
    return ", ".join(sorted({summary.stamp.version for summary in summaries}))


def size(summary: ExperimentSummary) -> str:
    """How many runs, and how many there could be."""
    runs = "1 run per cell" if summary.runs == 1 else f"{summary.runs} runs per cell"
    return runs if summary.runs >= summary.full else f"{runs}, {summary.full} at full size"


def heading(summary: ExperimentSummary) -> str:
    """What it is; and, if it is not of full size, how much of it there is."""
    part = f" ({summary.runs} of {summary.full} runs)" if summary.runs < summary.full else ""
    return f"{summary.source}: {summary.title}{part}"


def origin(summary: ExperimentSummary) -> str:
    """Which code computed it."""
    if not summary.earlier:
        return str(summary.stamp)
    return (
        f"{summary.stamp} Of its runs {summary.earlier:,} were made by earlier code; of each cell concerned "
        "one was made anew, and is the same to the last bit."
    )


def _section(summary: ExperimentSummary, out: Path) -> str:
    links = "".join(
        f"<a href='{summary.name}/{file}'>{name}</a> · "
        for file, name in (("records.parquet", "records"), ("figure.pdf", "PDF"))
        if (out / summary.name / file).exists()
    )
    picture = base64.b64encode((out / summary.name / "figure.png").read_bytes()).decode()
    rows = "".join(
        f"<tr><td>{html.escape(claim.text)}</td>"
        f"<td class='verdict {VERDICTS[claim.verdict].name}'>{MARKS[claim.verdict]} {claim.verdict}</td>"
        f"<td>{html.escape(claim.evidence)}</td></tr>"
        for claim in summary.claims
    )
    head = "<thead><tr><th>claim</th><th>verdict</th><th>here</th></tr></thead>"
    verdicts = f"<div class='scroll'><table class='claims'>{head}<tbody>{rows}</tbody></table></div>"
    return f"""
<section id="{summary.name}"><h2>{html.escape(heading(summary))}</h2>
<p class="soft">{size(summary)} · <code>{html.escape(summary.command)}</code> · {links}
{html.escape(origin(summary))}</p>
{verdicts}
<div class="scroll">{summary.table.html()}</div>
<p><img alt="{html.escape(summary.title)}" src="data:image/png;base64,{picture}"></p>
</section>"""


def write_markdown(
    path: Path, summaries: Sequence[ExperimentSummary], experiments: Sequence[Experiment] = ()
) -> None:
    """The same as a Markdown page, with the pictures that lie in images/reproduction beside it.

    Of those of the experiments that have no section it says so. A section that the page has from before
    sections were kept stays as it is, and says that it is of earlier code, until there is another one.
    """
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    rows, sections = dict[str, Sequence[str]](), dict[str, str]()
    for one in experiments:
        rows[one.name] = (one.source, one.title, f"0 of {one.runs}", "not run yet")
        found = section_at(before, one.name)
        if found is not None:
            rows[one.name] = (one.source, f"[{one.title}](#{one.name})", f"0 of {one.runs}", OLD)
            sections[one.name] = _of_earlier_code(found)
    for summary in summaries:
        marks = " ".join(MARKS[claim.verdict] for claim in summary.claims)
        runs = f"{summary.runs}" if summary.runs >= summary.full else f"{summary.runs} of {summary.full}"
        rows[summary.name] = (summary.source, f"[{summary.title}](#{summary.name})", runs, marks)
        sections[summary.name] = _markdown(summary)
    counted = "" if len(summaries) == len(sections) else ", in the sections that are not of earlier code"
    lines = [
        "# Reproduction of the paper",
        "",
        "Written by `windvane reproduce NAME... --data FOLDER --markdown docs/reproduction.md`, not by hand. "
        "Each section names the command that gives its figures, how many runs they rest on, and the code "
        "that computed them.",
        "",
        f"Windvane {_version(summaries)}. The paper's figures stand beside ours, with their spread. "
        f"Of the paper's claims{counted}: {counts(summaries)}.",
        "",
        RULE,
        "",
        "| | what | runs per cell | claims |",
        "|:--|:--|--:|:--|",
        *map(line, rows.values()),
        "",
        ", ".join(f"{mark} {verdict}" for verdict, mark in MARKS.items()) + ".",
    ]
    for name in rows:
        lines += ["", sections[name]] if name in sections else []
    write_text(path, "\n".join([*lines, "", *differences()]) + "\n")


def _markdown(summary: ExperimentSummary) -> str:
    """A section."""
    lines = [
        f'## <a id="{summary.name}"></a>{heading(summary)}',
        "",
        f"{size(summary)}: `{summary.command}`. {origin(summary)}",
        "",
        claim_list(summary.claims),
        "",
        summary.table.markdown(),
        "",
        f"![{summary.title}](images/reproduction/{summary.name}.png)",
    ]
    return "\n".join(lines)


def _of_earlier_code(section: str) -> str:
    """A section as it was, with a word about that below its heading."""
    head, _, rest = section.partition("\n")
    rest = rest.strip()
    return "\n\n".join((head, rest if rest.startswith(EARLIER) else f"{EARLIER}\n\n{rest}"))


def differences() -> list[str]:
    """What had to be settled, in Markdown."""
    lines = [f"## {SETTLED}"]
    for group, found in DIFFERENCES.items():
        lines += ["", f"### {group}", "", "| where | what | settled |", "|:--|:--|:--|"]
        lines += map(line, found)
    return lines


def claim_list(claims: Sequence[Claim]) -> str:
    """Claims in Markdown, each with its verdict and one full stop at its end."""
    return "\n".join(
        f"- {MARKS[c.verdict]} **{c.verdict}**: {c.text} Here: {c.evidence.rstrip('.')}." for c in claims
    )
