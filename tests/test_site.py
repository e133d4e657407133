"""The documentation as a site: it builds without a warning, all links lead somewhere, nothing is loaded from elsewhere."""

import ast
import os
import posixpath
import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from scripts import script

import windvane as wv

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = (
    "plots",
    "client",
    "theory",
    "integrations/optuna",
    "integrations/botorch",
    "integrations/gest",
)  # and the top package
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}


def tool(name, *needs):
    """A module of docs/tools, which is no package."""
    for package in needs:
        pytest.importorskip(package, reason="needs windvane[docs]")
    return script(f"docs/tools/{name}.py")


class Page(HTMLParser):
    """What a page has: its title, its headings, the places in it, where it leads, what it loads."""

    def __init__(self, text):
        super().__init__()
        self.title, self.headings, self.ids, self.links, self.loads, self._inside = "", [], set(), [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in LOADED and found.get(LOADED[tag]) and found.get("rel") not in ("next", "prev", "canonical"):
            self.loads.append(found[LOADED[tag]])
        if tag == "h1":
            self.headings.append("")
        if tag in ("title", "h1"):
            self._inside = tag

    def handle_endtag(self, tag):
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data):
        if self._inside == "title":
            self.title += data
        elif self._inside == "h1":
            self.headings[-1] += data


def named(site):
    """The names of the inventory that other projects link by: four lines of header, then zlib."""
    head, packed = re.fullmatch(
        rb"((?:#[^\n]*\n){4})(.*)", (site / "objects.inv").read_bytes(), re.DOTALL
    ).groups()
    assert head.startswith(b"# Sphinx inventory version 2")
    return {line.split(" ")[0] for line in zlib.decompress(packed).decode().splitlines()}


def public():
    """The names of the top package, each with its path: one that a module has too is documented by that."""
    yield {"windvane.Study"}  # needs a database, and is in no star import
    for name in wv.__all__:
        found = getattr(wv, name)
        whole = f"{found.__module__}.{found.__qualname__}" if callable(found) else ""  # HYPOTHESES is a tuple
        yield {f"windvane.{name}", whole}


def exported(package):
    """The same of another package, read and not imported: some need what may not be installed."""
    tree = ast.parse((ROOT / "src/windvane" / package / "__init__.py").read_text(encoding="utf-8"))
    (names,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    ]
    path = f"windvane.{package.replace('/', '.')}"
    return [{f"{path}.{name}", f"{path}.{name}.{name}"} for name in names]


def broken(name, page, pages, files):
    """The links and loads of a page that lead nowhere, or out of the site while it loads."""
    for target in page.loads + page.links:
        where = urlsplit(target)
        if where.scheme or where.netloc:
            if target in page.loads and where.scheme != "data":
                yield f"{name} loads {target}"
            continue
        path = unquote(where.path)
        base = "" if path.startswith("/") else posixpath.dirname(name)  # 404.html is served at any address
        file = posixpath.normpath(posixpath.join(base, path.lstrip("/"))) if path else name
        if (folder := posixpath.normpath(f"{file}/index.html")) in files:
            file = folder
        if file not in files:
            yield f"{name} leads to {target}, which is not there"
        elif where.fragment and file in pages and unquote(where.fragment) not in pages[file].ids:
            yield f"{name} leads to {target}, where there is no such place"


def problems(site):
    """Everything that is wrong with a site that was built."""
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    texts = {name: (site / name).read_text(encoding="utf-8") for name in files if name.endswith(".html")}
    pages = {name: Page(text) for name, text in texts.items()}
    for name, page in sorted(pages.items()):
        if name == "404.html":
            continue
        if not page.title.strip() or len(page.headings) != 1 or not page.headings[0].strip("¶ \n"):
            yield f"{name} has the title {page.title!r} and the headings {page.headings}"
        if "arithmatex" in texts[name] or "$$" in re.sub(
            r"<code.*?</code>", "", texts[name], flags=re.DOTALL
        ):
            yield f"{name} has a formula that was not drawn"
        yield from broken(name, page, pages, files)
    for name in files:
        if name.endswith(".css") and (
            found := re.search(r"url\(['\"]?(?:https?:)?//", (site / name).read_text())
        ):
            yield f"{name} loads {found[0]}"
    known = named(site)
    for names in [*public(), *(name for package in PUBLIC for name in exported(package))]:
        if not names & known:
            yield f"none of {sorted(names)} is in the reference"
    if "<math" not in texts["explanation/theory/index.html"]:
        yield "the theory has no formulas"


def test_the_site(tmp_path):
    """One build for all questions: it takes longer than all answers."""
    for package in ("mkdocs", "material", "mkdocstrings", "latex2mathml"):
        pytest.importorskip(package, reason="needs windvane[docs]")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    complaints = [line for line in built.stderr.splitlines() if not line.startswith("INFO ")]
    assert not complaints, built.stderr
    assert "not included in the" not in built.stderr, built.stderr  # pages that the navigation forgot
    found = list(problems(tmp_path / "site"))
    assert not found, "\n".join(found)


def test_a_page_that_is_wrong_is_found_to_be(tmp_path):
    """The questions of the test above, to pages of which the answers are known."""
    (tmp_path / "there.html").write_text('<title>T</title><h1 id="a">H</h1>')
    files = {"there.html", "here.html"}
    text = (
        '<title>T</title><h1>H</h1><a href="there.html#a">1</a><a href="there.html#b">2</a><a href="gone.html">3</a>'
        '<img src="https://elsewhere.org/x.png"><a href="https://elsewhere.org">4</a><script src="x.js"></script>'
    )
    pages = {"there.html": Page((tmp_path / "there.html").read_text()), "here.html": Page(text)}
    assert list(broken("here.html", pages["here.html"], pages, files)) == [
        "here.html loads https://elsewhere.org/x.png",
        "here.html leads to x.js, which is not there",
        "here.html leads to there.html#b, where there is no such place",
        "here.html leads to gone.html, which is not there",
    ]


def test_the_help_page_of_the_service_is_up_to_date_and_leads_nowhere_else():
    help_page = tool("help_page")
    text = help_page.PAGE.read_text(encoding="utf-8")
    assert text == help_page.page(), "run python docs/tools/help_page.py"
    links = re.findall(r'(?:href|src)="([^"]*)"', text)
    outside = [each for each in links if not each.startswith(("#", "/static/")) and each != "/"]
    assert outside == []
    parts = re.findall(r' id="([^"]*)"', text)
    assert {each[1:] for each in links if each.startswith("#")} <= set(parts)
    folder = help_page.PAGE.parent
    assert all((folder / each.removeprefix("/static/")).is_file() for each in links if "/static/" in each)
    pointed = re.findall(r'/", "([a-z-]+)"\]', (folder / "help.js").read_text(encoding="utf-8"))
    assert len(pointed) > 4
    assert set(pointed) <= set(parts)


def test_the_page_about_the_command_line_is_up_to_date():
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    assert page == tool("command_line").page(), "run python docs/tools/command_line.py"


def test_the_table_of_options_is_up_to_date():
    page = (ROOT / "docs/reference/algorithms.md").read_text(encoding="utf-8")
    assert page == tool("options").page(page), "run python docs/tools/options.py"
    assert tool("options").table() in page


@pytest.mark.parametrize(
    ("page", "link", "becomes"),
    [
        ("docs/reference/notation.md", "../../README.md#citing", "../readme.md#citing"),
        ("docs/how-to/client.md", "../../examples/README.md", "../examples/overview.md"),
        ("docs/index.md", "../examples/loop.sh", "examples/loop.sh.md"),
        ("README.md", "docs/tutorial.md#install", "tutorial.md#install"),
        ("README.md", "docs/images/demo.png", "images/demo.png"),
        ("examples/README.md", "../docs/how-to/client.md", "../how-to/client.md"),
        ("docs/how-to/replay.md", "../images/replay.png", "../images/replay.png"),
        ("docs/tutorial.md", "https://example.org/a.md", "https://example.org/a.md"),
    ],
)
def test_links_in_the_repository_become_links_in_the_site(page, link, becomes):
    hook = tool("repository", "mkdocs")
    text = f"See [it]({link}).\n\n```text\n[it]({link})\n```\n"
    assert (
        hook.relinked(text, page, hook.brought_in())
        == f"See [it]({becomes}).\n\n```text\n[it]({link})\n```\n"
    )


@pytest.mark.parametrize(
    ("written", "rendered"),
    [
        ("It has:\n- one\n- two", "It has:\n\n- one\n- two"),
        ("- one\n  goes on\n- two", "- one\n  goes on\n- two"),
        ("**A.**\n1. one", "**A.**\n\n1. one"),
        ("| a |\n|---|\n| - b |", "| a |\n|---|\n| - b |"),
        ("```\na\n- b\n```", "```\na\n- b\n```"),
    ],
)
def test_a_list_may_begin_right_after_a_line_of_text(written, rendered):
    assert tool("lists").spaced(written) == rendered


def test_formulas_become_mathml():
    drawn = tool("maths", "latex2mathml").drawn
    assert drawn("<p>none</p>") == "<p>none</p>"
    inline = drawn(r'<p><span class="arithmatex">\(a &lt; \sqrt{b}\)</span></p>')
    assert "<msqrt>" in inline
    assert 'display="inline"' in inline
    assert 'display="block"' in drawn('<div class="arithmatex">\\[\nx\n\\]</div>')


def test_doctests_become_blocks_of_code():
    fenced = tool("doctests", "griffe").fenced
    text = (
        "A sum.\n\n>>> 1 + 1\n2\n>>> for i in (1, 2):  # doctest: +SKIP\n...     print(i)\n1\n2\n\nAnd more."
    )
    assert fenced(text) == (
        "A sum.\n\n\n```pycon\n>>> 1 + 1\n2\n>>> for i in (1, 2):\n...     print(i)\n1\n2\n```\n\nAnd more."
    )


def test_the_pictures_of_the_idea_are_of_a_run_that_resets(tmp_path):
    pytest.importorskip("matplotlib", reason="needs windvane[plots]")
    idea = tool("idea")
    resets = [event.step for event in idea.run() if event.reset]
    assert resets
    assert all(40 < step <= 80 for step in resets)  # while the hill moves, or shortly after
    idea.main(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["idea-steps.svg", "idea.svg"]


def test_the_picture_of_the_walk_is_up_to_date_and_names_files_that_exist():
    walk = tool("walk")
    assert (ROOT / "docs/images/walk.svg").read_text(encoding="utf-8") == walk.picture(), (
        "run docs/tools/walk.py"
    )
    named = 0
    for step in (*walk.ASK, *walk.TELL):
        for line in step.files:
            first, *others = (file for file in line.split(", ") if file.endswith((".py", "/")))
            folder = ROOT / "src/windvane" / Path(first).parent
            for file in (ROOT / "src/windvane" / first, *(folder / other for other in others)):
                assert file.exists(), f"the picture names {file}, which is not there"
                named += 1
    assert named > 15


def test_the_walk_names_files_that_exist():
    """Every `file.py` and `folder/` of the page is somewhere in the package."""
    text = (ROOT / "docs/explanation/ask-and-tell.md").read_text(encoding="utf-8")
    files = [
        path.relative_to(ROOT).as_posix()
        for path in (*ROOT.glob("src/windvane/**/*.py"), *ROOT.glob("tests/**/*.py"))
    ]
    found = re.findall(r"`([\w/-]+(?:\.py|/))`", text)
    for name in found:
        if name.endswith("/"):
            assert any(f"/{name}" in f"/{file}" for file in files) or (ROOT / name).is_dir(), name
        else:
            assert any(f"/{file}".endswith(f"/{name}") for file in files) or (ROOT / name).is_file(), name
    assert len(set(found)) > 30
