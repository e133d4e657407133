"""The documentation: its code runs, its links lead somewhere, its table of algorithms is complete."""

import inspect
import re
import shlex
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import windvane as wv
from windvane.cli.main import main, parser

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ELSEWHERE = {"docs/how-to/client.md": "tests/client/test_client.py"}  # needs a service, and has one there
NEEDED = {  # optional packages
    "docs/how-to/optuna.md": "optuna",
    "docs/how-to/botorch.md": "botorch",
    "docs/how-to/gest.md": "gest_api",
}
SAID = {"README.md": ("a sudden change at step 61 is believed", "Best(x={'heat': ")}  # numbers included
EXECUTED = [
    "README.md",
    "docs/index.md",
    "docs/tutorial.md",
    *(
        name
        for folder in ("how-to", "explanation")
        for page in sorted((ROOT / "docs" / folder).glob("*.md"))
        if (name := page.relative_to(ROOT).as_posix()) not in ELSEWHERE
    ),
]
# a block is left out only if the line above it says so: <!-- skip: why -->
# and what it prints may stand right below it
BLOCK = re.compile(
    r"(?P<skip><!-- skip: .+? -->\n)?^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<told>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
NUMBERS = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?(?:,? +[-+]?\d[\d.]*(?:e[-+]?\d+)?)*")
RIVALS = re.compile(r" for the next best explanation \([^)]+\)")  # the hardly believed, in a reason
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page):
    """The Python blocks of a page, padded so that a traceback shows the line of the page, and what they print."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        if not found["skip"]:
            yield "\n" * text.count("\n", 0, found.start("code")) + found["code"], found["told"] or ""


def forms(printed):
    """The lines of an output without what differs from machine to machine: numbers, and who comes second."""
    return {NUMBERS.sub("#", RIVALS.sub("", line)).rstrip() for line in printed.splitlines()} - {"", "..."}


def cases(function):
    """The arguments of a test function on a page: those of its `parametrize`, or none."""
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    if not marks:
        return [{}]
    (mark,) = marks
    return [{mark.args[0]: value} for value in mark.args[1]]


@pytest.mark.parametrize("page", EXECUTED)
def test_code_runs(page, monkeypatch, tmp_path, capsys):
    """All blocks of a page, in order, in one namespace; then the tests that the page defines.

    Each line that a page shows below a block is printed by it, but for its numbers.
    """
    if page in NEEDED:
        pytest.importorskip(NEEDED[page], reason=f"needs windvane[{NEEDED[page]}]")
    module = ModuleType(re.sub(r"\W", "_", page))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(tmp_path)
    code, said = list(blocks(ROOT / page)), ""
    assert code
    for block, told in code:
        exec(compile(block, page, "exec"), module.__dict__)
        printed = capsys.readouterr().out
        said += printed
        assert forms(told) <= forms(printed), f"{page} shows\n{told}\nwhere this is printed:\n{printed}"
    assert all(words in said for words in SAID.get(page, ()))
    for name, function in list(vars(module).items()):
        if name.startswith("test_") and inspect.isfunction(function):
            for arguments in cases(function):
                function(**arguments)


@pytest.mark.parametrize(("page", "test"), ELSEWHERE.items())
def test_what_is_not_executed_here_is_executed_elsewhere(page, test):
    assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")


def test_the_readme_is_short():
    """At most 900 words outside of code; a link counts as its text, a picture as none."""
    text = FENCED.sub("", (ROOT / "README.md").read_text(encoding="utf-8"))
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = LINK.sub("]", text)
    words = [word for word in text.split() if re.search(r"\w", word)]
    assert len(words) <= 900


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_example_is_the_default(page):
    """What a reader meets first is `wv.make(space)`, on named parameters with units."""
    code, _ = next(blocks(ROOT / page))
    assert "wv.make(space, seed=0)" in code
    assert "unit=" in code


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_figure_is_from_before_something(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"\(?Measured before|measured\s+before\s+the", text), name_of(page)


def anchors(page):
    """The anchors of a page: of its headings, as GitHub makes them, and those that are set by hand."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)"></a>', text))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue  # elsewhere on the web
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), f"{name_of(page)} links to {target}, which is not there"
        assert file.is_relative_to(ROOT), f"{name_of(page)} links to {target}, outside of the repository"
        if anchor:
            assert anchor in anchors(file), f"{name_of(page)} links to {target}, which has no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_nothing_is_left_to_be_filled_in(page):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    assert not re.findall(r"^[A-Z][A-Z0-9]{4,}$", text, flags=re.MULTILINE)


def test_the_reference_lists_every_algorithm_once():
    text = (ROOT / "docs/reference/algorithms.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- algorithms: begin -->(.+?)<!-- algorithms: end -->", text, flags=re.DOTALL)
    names = re.findall(r"^\| `([^`]+)` \|", table, flags=re.MULTILINE)
    assert sorted(names) == sorted(wv.algorithms())


def test_the_benchmark_page_lists_every_task_once():
    text = (ROOT / "docs/how-to/benchmark.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- tasks: begin -->(.+?)<!-- tasks: end -->", text, flags=re.DOTALL)
    names = re.findall(r"^\| `([^`]+)` \|", table, flags=re.MULTILINE)
    assert sorted(names) == sorted(wv.tasks())


def test_the_readme_names_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_commands_in_the_documentation_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, flags=re.MULTILINE))
    for page in PAGES:
        for target in re.findall(r"`make ([a-z0-9-]+)`", page.read_text(encoding="utf-8")):
            assert target in targets, f"{name_of(page)} mentions `make {target}`"


def test_windvane_commands_in_the_documentation_can_be_typed():
    for page in PAGES:
        for block in re.findall(r"```sh\n(.+?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
            for line in block.splitlines():
                if line.startswith("windvane "):
                    parser().parse_args(shlex.split(line, comments=True)[1:])


def test_every_decision_is_in_the_index():
    index = (ROOT / "docs/decisions/README.md").read_text(encoding="utf-8")
    records = sorted(page.name for page in (ROOT / "docs/decisions").glob("0*.md"))
    assert re.findall(r"\]\((0[^)]+)\)", index) == records


def test_the_layers_are_those_that_are_checked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = [
        contract["layers"]
        for contract in project["tool"]["importlinter"]["contracts"]
        if "layers" in contract
    ]
    assert "\n".join(layers) in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_shell_commands_of_the_tutorial_print_what_the_page_shows(monkeypatch, tmp_path, capsys):
    """Its section about a study: the loop in Python first, then each command, in order, in one folder."""
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WINDVANE_DB", "reactor.db")
    own = text[text.index("## Your own problem") : text.index("<!-- shell: begin -->")]
    exec(compile("\n".join(found["code"] for found in BLOCK.finditer(own)), "tutorial.md", "exec"), {})
    (shell,) = re.findall(r"<!-- shell: begin -->(.+?)<!-- shell: end -->", text, flags=re.DOTALL)
    for commands, told in re.findall(r"```sh\n(.+?)```\n\n```text\n(.+?)```", shell, flags=re.DOTALL):
        capsys.readouterr()
        for line in commands.splitlines():
            if line.startswith("windvane "):
                assert main(shlex.split(line)[1:]) == 0
        printed = capsys.readouterr().out
        assert forms(told) <= forms(printed), f"the tutorial shows\n{told}\nwhere this is printed:\n{printed}"
