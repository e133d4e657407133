"""Draws images/tutorial.png by running the tutorial up to its picture: `python docs/tools/tutorial.py`."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
PICTURE = "events.png"  # as the tutorial calls it


def main() -> None:
    """Run the blocks of the page until there is a picture, and keep it."""
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    home = Path.cwd()
    names: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            exec(block, names)
            if Path(PICTURE).exists():
                break
        shutil.copyfile(PICTURE, DOCS / "images" / "tutorial.png")
        os.chdir(home)


if __name__ == "__main__":
    main()
