"""A hook of the site: files outside of docs/ become pages of it, and links to them work here as on GitHub.

On GitHub a page of docs/ links to ../../README.md or to examples/loop.sh. MkDocs knows only what is in docs/.
So these files are brought in under an address of their own, and each link, which is a path in the repository,
is rewritten to that address. A link to anything else stays as it is, and the strict build refuses it.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "LICENSE": "licence.md",
    "examples/README.md": "examples/overview.md",
}
LANGUAGES = {".py": "python", ".sh": "bash", ".mjs": "javascript"}
NOTEBOOK = ".ipynb"
RECORDS = "decisions/0*.md"  # in the navigation: every decision record, in order
FENCE = re.compile(r"^(```|~~~).*?^\1[`~]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))")


def brought_in() -> dict[str, str]:
    """Paths in the repository, outside of docs/, and the page that each becomes."""
    wanted = (*LANGUAGES, NOTEBOOK)
    scripts = sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in wanted)
    return PAGES | {f"examples/{path.name}": f"examples/{path.name}.md" for path in scripts}


def contents(path: str) -> str:
    """What a file of the repository looks like as a page."""
    text = (ROOT / path).read_text(encoding="utf-8")
    language = LANGUAGES.get(Path(path).suffix)
    if path == "LICENSE":
        return f"# Licence\n\n{text}"
    if path.endswith(NOTEBOOK):
        return notebook(json.loads(text))
    return f"# {Path(path).name}\n\n```{language}\n{text}```\n" if language else text


def notebook(cells: Any) -> str:
    """A notebook as a page: its texts, its code, and what that printed; pictures stay in the notebook."""
    parts = []
    for cell in cells["cells"]:
        source = "".join(cell["source"]).rstrip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            said = output.get("text") or output.get("data", {}).get("text/plain") or []
            if "image/png" not in output.get("data", {}) and "".join(said).strip():
                parts.append(f"```text\n{''.join(said).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def relinked(text: str, page: str, places: dict[str, str]) -> str:
    """The Markdown of `page`, a path in the repository, with its links as the site has them."""
    here = posixpath.dirname(places.get(page, page.removeprefix("docs/")))

    def rewrite(found: re.Match[str]) -> str:
        target, anchor = found["target"], found["anchor"] or ""
        if re.match(r"[a-z]+:", target):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if path in places:
            place = places[path]
        elif path.startswith("docs/"):
            place = path.removeprefix("docs/")
        else:
            return found[0]
        return posixpath.relpath(place, here or ".") + anchor

    pieces, last = [], 0
    for code in FENCE.finditer(text):  # in which nothing is a link
        pieces += [LINK.sub(rewrite, text[last : code.start()]), code[0]]
        last = code.end()
    return "".join([*pieces, LINK.sub(rewrite, text[last:])])


def expanded(nav: Any) -> Any:
    """The navigation, with the decision records in the place that is kept for them."""
    if isinstance(nav, dict):
        return {title: expanded(part) for title, part in nav.items()}
    if not isinstance(nav, list):
        return nav
    records = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").glob(RECORDS))
    return [each for part in nav for each in (records if part == RECORDS else [expanded(part)])]


def on_config(config: Any) -> Any:
    """MkDocs, before it looks for files."""
    config.nav = expanded(config.nav)
    return config


def on_files(files: Any, config: Any) -> Any:
    """MkDocs, once it has found the files of docs/."""
    for path, place in brought_in().items():
        files.append(File.generated(config, place, content=contents(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """MkDocs, before a page is rendered."""
    if page.parent is None:  # a tab of its own: beside it there is nothing to navigate to
        page.meta["hide"] = ["navigation"]
    places = brought_in()
    origins = {place: path for path, place in places.items()}
    path = origins.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    return relinked(markdown, path, places)
