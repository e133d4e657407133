"""The pictures of the page, docs/images/dashboard-light.png and -dark.png: python docs/tools/dashboard.py

The study is the demo's, 240 steps of it without waiting. Needs Chromium and playwright.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from windvane.service.demo import hill
from windvane.storage import Database

IMAGES = Path(__file__).parents[1] / "images"
STEPS = 240
SIZE = {"width": 1440, "height": 1690}


def main() -> None:
    """Make the study, serve it, and take a picture in each theme."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        url, noise = str(Path(folder) / "studies.db"), random.Random(0)
        with Database(url, create=True) as database:
            play = hill()
            study = play.opened(database)
            for step in range(STEPS):
                trial = study.ask()
                study.tell(trial, play.measure(trial.x, step, noise)[0])
        command = [sys.executable, "-m", "windvane", "serve", "--port", "0", "--db", url]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process,
            sync_playwright() as driver,
        ):
            assert process.stdout is not None
            address = re.search(r"http://\S+", process.stdout.readline())
            assert address
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for scheme in ("light", "dark"):
                page = browser.new_context(viewport=SIZE, color_scheme=scheme).new_page()  # type: ignore[arg-type]
                page.goto(f"{address[0].rstrip('/')}/studies/demo")
                page.get_by_text("What was believed best at the time").wait_for(timeout=60_000)
                page.locator(".words p").first.wait_for()
                page.wait_for_timeout(1500)  # the last drawing is paced
                page.screenshot(path=IMAGES / f"dashboard-{scheme}.png")
            browser.close()
            process.terminate()


if __name__ == "__main__":
    main()
