"""Which code computed a page: written into the page, so that it can be told when it is out of date.

A stamp has the version, the commit, and a digest of the code that computes runs (`code.py`). The commit is
for people; what decides is the digest, since most commits do not touch what computes a run. What the scripts
in bench/ measure has a stamp as well; its digest leaves out the libraries, since they have environments of
their own, and takes in what else they measure, such as the service.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

import windvane
from windvane.experiments.code import code_digest, root, source_digest

SHOWN = 12  # characters of a commit
CODE = 16  # and of a digest
UNKNOWN = "unknown"
LINE = re.compile(r"Computed by Windvane (\S+), commit (\S+), code ([0-9a-f]+)\.")


@dataclass(frozen=True)
class Stamp:
    """What computed a page.

    >>> print(Stamp("1.0.0", "0123456789ab", "89abcdef"))
    Computed by Windvane 1.0.0, commit 0123456789ab, code 89abcdef.
    """

    version: str
    commit: str
    code: str

    def __str__(self) -> str:
        return f"Computed by Windvane {self.version}, commit {self.commit}, code {self.code}."


def stamp(code: str | None = None) -> Stamp:
    """That of the code as it is now: of all that computes runs, or of the part whose digest is given."""
    return Stamp(windvane.__version__, commit(), (code_digest() if code is None else code)[:CODE])


def bench_stamp(*also: str) -> Stamp:
    """That of a measurement: of the code behind runs, and of other parts of the package that it is about."""
    return Stamp(windvane.__version__, commit(), source_digest(*also)[:CODE])


def commit() -> str:
    """The commit of the checkout that the package is in, with a + if files were changed since."""
    git = ("git", "-C", str(root()))
    try:
        tracked = _said(*git, "ls-files", "__init__.py")
        head = _said(*git, "rev-parse", f"--short={SHOWN}", "HEAD")
        changed = _said(*git, "status", "--porcelain", "--untracked-files=no", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
    if not tracked:  # installed into somebody else's checkout
        return UNKNOWN
    return f"{head}+" if changed else head


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10.0)
    return done.stdout.strip()


def section(page: str, heading: str) -> str | None:
    """What stands under a heading, up to the next one of its level or above; None if there is no such one.

    >>> section("# Page\\n## One\\na\\n### More\\nb\\n## Two\\nc", "One")
    '## One\\na\\n### More\\nb\\n'
    """
    found = re.search(rf"^(#+) {re.escape(heading)}[ ]*$", page, flags=re.MULTILINE)
    if found is None:
        return None
    after = re.compile(rf"^#{{1,{len(found[1])}}} ", flags=re.MULTILINE).search(page, found.end())
    return page[found.start() : after.start() if after else len(page)]


def section_at(page: str, anchor: str) -> str | None:
    """The same for a heading that is known by its anchor.

    >>> section_at('## <a id="one"></a>First\\na\\n## <a id="two"></a>Second', "one")
    '## <a id="one"></a>First\\na\\n'
    """
    found = re.search(rf'^#+ (<a id="{re.escape(anchor)}"></a>.*)$', page, flags=re.MULTILINE)
    return None if found is None else section(page, found[1].rstrip())


def stamps(page: str) -> list[Stamp]:
    """The stamps in the text of a page; it may have one per section.

    >>> stamps("Before. Computed by Windvane 1.0.0, commit 0123+, code 89ab. After.")
    [Stamp(version='1.0.0', commit='0123+', code='89ab')]
    """
    return [Stamp(*found) for found in LINE.findall(page)]
