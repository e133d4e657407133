"""Writes the tables of docs/what-holds.md: `python docs/tools/what_holds.py`.

One line per claim: verdict, figure, the command that shows it, the page with the table, and which code
computed it. Nothing of that is written by hand: the claims of the README are its own words, those of the
paper and of triggers stand in the pages that commands write, figures are read from these pages, and which
code they are of is in the stamps there. What is decided here is how a claim of the README is checked against
the figures of its page, by the rule of `windvane.experiments.claims`. The page is committed; a test says
when it is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from windvane.experiments.claims import ENOUGH, RULE, Check, Interval, Verdict, verdict_of
from windvane.experiments.report import MARKS
from windvane.experiments.stamp import section, stamps

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(__file__).name
PAGE = ROOT / "docs" / "what-holds.md"
HEAD = ("claim", "verdict", "figure", "command", "table", "computed by")
LONG = 240  # characters of a figure, above which the page that it is from has the rest
CLAIM = re.compile(r"^- (?P<mark>\S) \*\*(?P<verdict>[^*]+)\*\*: (?P<text>.+?) Here: (?P<figure>.+)\.$", re.M)
BULLET = re.compile(r"^- \*\*(?P<lead>[^*]+)\*\*(?P<rest>.+)$", re.MULTILINE)
LINK = re.compile(r"\s*\(?\[(?P<name>[^\]]+)\]\((?P<target>[^)]+)\)\)?")
BAR, ESCAPED = re.compile(r"(?<!\\)\|"), r"\\|"  # in a cell of a table
PRESENT = "the present code, at every `make test`"


@dataclass(frozen=True)
class Line:
    """A claim, and what there is to say of it."""

    claim: str
    verdict: Verdict
    figure: str
    command: str
    table: str
    code: str

    def markdown(self) -> str:
        verdict = f"{MARKS[self.verdict]} {self.verdict}"
        cells = (self.claim, verdict, self.figure, self.command, self.table, self.code)
        return f"| {' | '.join(BAR.sub(ESCAPED, cell) for cell in cells)} |"


def text(page: str) -> str:
    """A page, by its path within docs/."""
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def under(page: str, heading: str) -> str:
    """What stands under a heading of a page."""
    found = section(text(page), heading)
    if found is None:
        raise SystemExit(f"docs/{page}: no heading {heading!r} any more; {TOOL} has to know where it is")
    return found


def code_of(part: str) -> str:
    """Which code computed what stands there, by its stamps."""
    found = sorted({f"{each.version}, {each.commit}" for each in stamps(part)})
    return "; ".join(found) or "not stamped"


def rows(part: str, *columns: str) -> Iterator[list[str]]:
    """The cells of these columns, line by line, of the table that has all of them."""
    places: list[int] = []
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            places = []
        elif set(columns) <= set(cells):
            places = [cells.index(column) for column in columns]
        elif places and not set(line) <= set("|:- "):
            yield [cells[place] for place in places]


def number(found: str) -> float:
    """The first number in a text."""
    match = re.search(r"-?\d[\d,]*\.?\d*", found)
    if match is None:
        raise SystemExit(f"no number in {found!r}")
    return float(match[0].replace(",", ""))


def interval(found: str) -> Interval:
    """That of a text such as 0.66 (0.59 to 0.74)."""
    low, high = re.findall(r"\(([\d.]+) to ([\d.]+)\)", found)[0]
    return Interval(float(low), float(high))


def enough(runs: int, checks: list[Check]) -> list[Check]:
    """The checks, all of them open if there are too few runs."""
    return checks if runs >= ENOUGH else [None] * len(checks)


def shortened(figure: str) -> str:
    """A figure that fits into a line; what is cut off ends where a part of it does."""
    if len(figure) <= LONG:
        return figure
    cut = max(figure.rfind(mark, 0, LONG) for mark in ("; ", ", ", ". ", " "))
    return f"{figure[:cut].rstrip(' ;,.')} …"


# -- what Windvane claims


def optuna(rival: str = "TPESampler") -> Line:
    """Regret in proportion to that of a sampler of Optuna, on all that changes."""
    part = under("how-to/optuna.md", "Measured")
    task, found = "", []
    for name, sampler, ratio in rows(part, "task", "sampler", "WindvaneSampler's, in proportion"):
        task = name or task
        if sampler == rival and task != "static":
            found.append(ratio)
    runs = int(number(re.findall(r"\d+ seeds of \d+ trials", part)[0]))
    checks = enough(runs, [interval(ratio).below(1.0) for ratio in found])
    ratios = sorted(number(ratio) for ratio in found)
    low, high = ratios[0], ratios[-1]
    figure = f"{low:.2f} to {high:.2f} of {rival}'s regret on {len(found)} kinds of change, {runs} seeds"
    return Line(
        f"On all that changes, its regret is below that of {rival} of Optuna.",
        verdict_of(checks),
        figure,
        "`make optuna-bench`",
        "[Optuna](how-to/optuna.md#measured)",
        code_of(part),
    )


def adaptivity(name: str, worlds: str, claim: str, *, loses: bool = False) -> Line:
    """How often a row is within 10 % of the best rival, by the page's intervals; or how often it is not."""
    page = text("adaptivity.md")
    said = re.search(
        rf"^`{re.escape(name)}` is within 10 % of the best rival on (\d+) of (\d+) worlds\. By the intervals "
        r"this is certain on (\d+), refuted on (\d+) and undecided on (\d+)\..*?Its worst ratio is ([\d.]+) "
        r".*?, on ([^;]+);",
        under("adaptivity.md", worlds),
        re.MULTILINE,
    )
    if said is None:
        raise SystemExit(f"docs/adaptivity.md: nothing is said of {name} under {worlds!r}")
    within, all_of_them, certain, refuted, undecided = map(int, said.groups()[:5])
    runs = int(number(re.findall(r"over \d+ runs of each", page)[0]))
    checks: list[Check] = [not loses] * certain + [loses] * refuted + [None] * undecided
    return Line(
        claim,
        verdict_of(enough(runs, checks)),
        f"within 10 % of the best rival on {within} of {all_of_them} worlds (certain on {certain}, refuted "
        f"on {refuted}), worst ratio {said[6]}, on {said[7]}; {runs} runs",
        "`windvane bench --suite standard`",
        "[adaptivity](adaptivity.md)",
        code_of(page),
    )


def price() -> Line:
    """What it costs to be told nothing."""
    return adaptivity(
        "auto (told nothing)",
        "Rivals are told kernel, noise and rate",
        "Told nothing, it loses to rivals that are told.",
        loses=True,
    )


def speed() -> Line:
    """Milliseconds per step of `auto`, told nothing."""
    part = under("performance.md", "`auto`, told nothing")
    means = sorted(number(mean) for _, mean in rows(part, "the objective", "mean step"))
    return Line(
        "A step takes less than 10 ms on average.",
        verdict_of([mean < 10.0 for mean in means]),
        f"{means[0]:g} to {means[-1]:g} ms per step on average",
        "`python bench/default.py`",
        "[performance](performance.md#auto-told-nothing)",
        code_of(part),
    )


def paper() -> Line:
    """The verdicts on the paper's claims, counted."""
    page = text("reproduction.md")
    found = [cast(Verdict, one["verdict"]) for one in CLAIM.finditer(page)]
    earlier = "" if by_the_rule(page) else "; verdicts of an earlier rule, some of few runs"
    sides: dict[Verdict, Check] = {"holds": True, "does not hold": False}
    plural = {"holds": "hold", "holds in part": "hold in part", "does not hold": "do not hold"}
    counted = [f"{found.count(v)} {plural.get(v, v)}" for v in MARKS if v in found]
    return Line(
        "The paper's claims come out.",
        verdict_of([sides.get(verdict) for verdict in found]),
        f"of {len(found)} claims {', '.join(counted)}{earlier}",
        "`windvane reproduce all --data FOLDER`",
        "[reproduction](reproduction.md)",
        code_of(page),
    )


def crash() -> Line:
    """Not a measurement: it holds, or the tests fail."""
    kept = by_test("A tell that was answered is on disk.", "tests/study/test_crash.py")
    return replace(kept, command="`make crash`", table="[after a crash](how-to/months.md#after-a-crash)")


def by_test(claim: str, file: str) -> Line:
    """A claim that a test of `make test` stands for."""
    if not (ROOT / file).is_file():
        raise SystemExit(f"{file} is gone; {TOOL} has to know what tests this now: {claim}")
    return Line(claim, "holds", f"`{file}`", "`make test`", "–", PRESENT)


def beside_botorch() -> Line:
    """The ratios that are wanted are in the summary that the script prints."""
    part = under("performance.md", "Beside BoTorch")
    found = re.findall(r"^(.+?) {2,}(\d+) +(\d+) +([\d.]+)% +([\d.]+)%$", part, re.MULTILINE)
    checks: list[Check] = [int(r) >= int(w) and float(n) >= float(m) for _, r, w, n, m in found]
    return Line(
        "ET-GP-UCB is 30 to 100 times faster than BoTorch's analytic UCB on the same posteriors, and its "
        "points are as good.",
        verdict_of(checks),
        "; ".join(f"{r} times ({what.strip()}), not worse on {n} % of steps" for what, r, _, n, _ in found),
        "`make bench`",
        "[performance](performance.md#beside-botorch)",
        code_of(part),
    )


def peers() -> Line:
    """Ratios to `auto` on what changes, of packages that are not ours."""
    part = under("performance.md", "Beside other optimisers")
    changing = ("drift", "jumps", "seasons")
    ratios: dict[str, float] = {}
    for name, *cells in rows(part, "optimiser", *changing):
        for task, cell in zip(changing, cells, strict=True):
            found = re.search(r"\(([\d.]+)(?:, \d+ runs?)?\)", cell)
            if found and not name.startswith("Windvane"):
                ratios[f"{name} on {task}"] = float(found[1])
    counted = [int(number(cell)) for _, cell in rows(part, "optimiser", "runs")]
    seeds = max(counted) // 4  # the runs of a row are those of all four tasks
    least = min(ratios, key=lambda each: ratios[each])
    ahead = sum(ratio < 1.0 for ratio in ratios.values())
    return Line(
        "On all that changes, no other package has less regret.",
        verdict_of(enough(min(counted) // 4, [ratio > 1.0 for ratio in ratios.values()])),
        f"{ahead} of {len(ratios)} ratios to `auto` are below 1, the least {ratios[least]:g} ({least}); at "
        f"most {seeds} seeds, of some packages {min(counted)} runs on all tasks together",
        "`make bench`",
        "[performance](performance.md#beside-other-optimisers)",
        code_of(part),
    )


def endless() -> Line:
    """The first stream of the section is that of `auto`."""
    part = under("performance.md", "Streams that never end")
    said = re.search(r"last block / second block: time ([\d.]+), memory ([\d.]+)", part)
    if said is None:
        raise SystemExit("docs/performance.md: the ratios of the blocks are gone")
    time, memory = map(float, said.groups())
    return Line(
        "On a stream that never ends time and memory stay flat: the last block is at most a quarter above "
        "the second.",
        verdict_of([time <= 1.25, memory <= 1.25]),
        f"time {time:g}, memory {memory:g} of the second block's",
        "`make endless`",
        "[performance](performance.md#streams-that-never-end)",
        code_of(part),
    )


READ = {  # where a claim of the README leads to: how it is checked there
    "docs/how-to/optuna.md#measured": optuna,
    "docs/adaptivity.md#auto-told-nothing": price,
    "docs/performance.md#auto-told-nothing": speed,
    "docs/reproduction.md": paper,
    "docs/how-to/months.md#after-a-crash": crash,
}


def readme() -> list[Line]:
    """The claims of the README, in its words."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    found = []
    for bullet in BULLET.finditer(section(page, "Five claims") or ""):
        targets = [link["target"] for link in LINK.finditer(bullet["rest"])]
        how: Callable[[], Line] | None = next((READ[target] for target in targets if target in READ), None)
        if how is None:
            raise SystemExit(f"README.md, {bullet['lead']!r}: leads to no page that {TOOL} reads")
        words = LINK.sub("", f"**{bullet['lead']}**{bullet['rest']}").strip()
        found.append(replace(how(), claim=words))
    return found


def others() -> list[Line]:
    """What the other pages claim."""
    return [
        optuna("GPSampler"),
        adaptivity("auto", "Told nothing", "Where nobody is told anything, it is within 10 % of the best."),
        adaptivity(
            "auto",
            "Rivals are told kernel, noise and rate",
            "Told the kernel only, it is within 10 % of the best rival, which may be told noise and rate.",
        ),
        peers(),
        beside_botorch(),
        endless(),
        by_test("A `tell` is all or nothing, whatever is raised inside it.", "tests/test_atomic.py"),
        by_test("A restored optimiser asks the same points, bit for bit.", "tests/test_state.py"),
        by_test("States of 0.1 are read.", "tests/test_older_states.py"),
        by_test("Databases of 0.1 are read.", "tests/storage/test_version_4.py"),
        by_test("Looking at an optimiser changes nothing.", "tests/test_looking_changes_nothing.py"),
    ]


# -- what is claimed on pages that commands write


def stated(part: str, command: str, table: str, code: str, runs: int = ENOUGH) -> list[Line]:
    """The claims in a part of a page, with the verdicts that stand there.

    Where these are from before the rule, they are open if there are too few runs.
    """
    found = []
    for one in CLAIM.finditer(part):
        verdict, figure = cast(Verdict, one["verdict"]), shortened(one["figure"])
        if runs < ENOUGH and verdict != "not tested":
            figure, verdict = f"{figure} (of {runs} runs; *{verdict}* by an earlier rule)", "undecided"
        found.append(Line(one["text"], verdict, figure, f"`{command}`", table, code))
    return found


def triggers() -> list[Line]:
    """What triggers promise."""
    page = text("triggers.md")
    return stated(page, "windvane triggers", "[triggers](triggers.md)", code_of(page))


def by_the_rule(page: str) -> bool:
    """Whether the verdicts of a page are by the rule as it is now, which it then states."""
    return RULE in page


def reproduced() -> list[Line]:
    """The paper's claims, section by section."""
    found, page = [], text("reproduction.md")
    for part in re.split(r"^## (?=<a id=)", page, flags=re.MULTILINE)[1:]:
        name = re.findall(r'<a id="([^"]+)">', part)[0]
        source = re.findall(r"</a>(.+?): ", part)[0]
        runs, command = re.findall(r"^(\d[^:]+): `([^`]+)`", part, re.MULTILINE)[0]
        counted = ENOUGH if by_the_rule(page) else int(number(runs))
        found += stated(part, command, f"[{source}](reproduction.md#{name}), {runs}", code_of(part), counted)
    return found


def table(lines: list[Line]) -> str:
    """The lines as a table."""
    head = [f"| {' | '.join(HEAD)} |", f"|{'|'.join(['---'] * len(HEAD))}|"]
    return "\n".join([*head, *(line.markdown() for line in lines)])


BLOCKS: dict[str, Callable[[], list[Line]]] = {
    "readme": readme,
    "others": others,
    "triggers": triggers,
    "paper": reproduced,
}


def page(before: str) -> str:
    """The page with its tables as they should be."""
    for name, lines in BLOCKS.items():
        block = re.compile(rf"(?<=<!-- {name}: begin -->\n\n).*?(?=\n*<!-- {name}: end -->)", re.DOTALL)
        if not block.search(before):
            raise SystemExit(f"{PAGE.name}: no place for the table of {name}")
        made = f"{table(lines())}\n\n"
        before = block.sub(lambda _, made=made: made, before)
        before = re.sub(rf"\n+(?=<!-- {name}: end -->)", "\n\n", before)
    return before


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
