"""How long a browser takes to show a study of 100,000 tells, beside one of 1,000: `make page-bench`

Needs Chromium. The clock is the browser's own and starts with the navigation; each visit has an empty cache.
The service has been asked before, so that the study is open, unless `--cold`: then it starts for each visit.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import sync_playwright

import windvane as wv
from open import OPTIONS, fill
from windvane.storage import Database
from windvane.study import Study

WATCH = """
window.seen = {};
const signs = {
  paint: () => [...document.querySelectorAll(".readout")].some((each) =>
    each.querySelector("dt").textContent.startsWith("Steps") && each.checkVisibility()
    && each.querySelector(".readout-value").textContent !== "–"),
  course: () => document.querySelector(".timeline .scatterlayer .point"),
  belief: () => document.querySelector(".posterior .xtitle"),
  words: () => document.querySelector(".words p"),
  misled: () => [...document.querySelectorAll(".lesson")].some((each) => each.checkVisibility()),
};
const look = () => {
  for (const [name, sign] of Object.entries(signs)) {
    if (!(name in seen) && sign()) seen[name] = performance.now();
  }
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
NAMES = {"paint": "first paint", "course": "course complete", "belief": "belief now", "words": "in words"}


@contextmanager
def served(database: Path) -> Iterator[str]:
    """The service in a process of its own; its address."""
    command = [sys.executable, "-m", "windvane", "serve", "--port", "0", "--db", str(database)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found
            yield found[0].rstrip("/")
        finally:
            process.terminate()


def visit(browser: object, url: str, name: str) -> dict[str, float]:
    """Milliseconds after the navigation at which each part was seen."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})  # type: ignore[attr-defined]
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(f"{url}/studies/{quote(name)}")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        seen: dict[str, float] = page.evaluate("window.seen")
        if all(each in seen for each in NAMES):
            break
        page.wait_for_timeout(100)
    context.close()
    return seen


def main() -> None:
    """Fill the studies, visit each of them, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tells", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cold", action="store_true", help="a service that has just been started")
    parser.add_argument("--db", help="a database that has studies already; all of them are visited")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(given.db or Path(folder) / "studies.db")
        if not given.db:
            for tells in (1000, given.tells):
                with Study.create(
                    str(database), f"{tells} tells", wv.Box([(0.0, 1.0)] * 2), "et-gp-ucb", **OPTIONS
                ) as study:
                    fill(study, tells)
        with Database(str(database)) as opened:
            names = [each.name for each in opened.studies()]
        print(f"{'':24}" + "".join(f"{text:>18}" for text in NAMES.values()) + "   milliseconds")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            for name in names:
                found = []
                for index in range(given.repeats):
                    if given.cold or not index:
                        service = served(database)
                        url = service.__enter__()
                        if not given.cold:
                            urllib.request.urlopen(f"{url}/v1/studies/{quote(name)}/best").read()
                    found.append(visit(browser, url, name))
                    if given.cold or index == given.repeats - 1:
                        service.__exit__(None, None, None)
                medians = [
                    statistics.median(each.get(part, float("nan")) for each in found) for part in NAMES
                ]
                misled = (
                    " “Nothing measured yet” was shown" if any("misled" in each for each in found) else ""
                )
                print(f"{name:24}" + "".join(f"{each:>18.0f}" for each in medians) + misled, flush=True)
            browser.close()


if __name__ == "__main__":
    main()
