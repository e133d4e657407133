"""One name for one thing: no two classes of the package share a name."""

import ast
from collections import Counter
from pathlib import Path

import windvane

PACKAGE = Path(windvane.__file__).parent


def test_no_two_classes_share_a_name():
    found = Counter(
        node.name
        for file in PACKAGE.rglob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert not {name for name, count in found.items() if count > 1}
