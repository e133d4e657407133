"""What scripts and examples take from the package is there: most of them are too long to run in a test."""

import ast
import importlib
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    path for folder in ("bench", "examples", "docs/tools") for path in (ROOT / folder).rglob("*.py")
)


def taken(tree):
    """The names bound by imports of the package, each with what it is."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module.split(".")[0] == "windvane":
            module = importlib.import_module(node.module)
            for alias in node.names:
                thing = getattr(module, alias.name, None) or importlib.import_module(
                    f"{node.module}.{alias.name}"
                )
                found[alias.asname or alias.name] = thing
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "windvane" and alias.asname:
                    found[alias.asname] = importlib.import_module(alias.name)
    return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_script_takes_is_there(script):
    tree = ast.parse(script.read_text(encoding="utf-8"))
    names = taken(tree)
    missing = [
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if isinstance(names.get(node.value.id), types.ModuleType)
        and not hasattr(names[node.value.id], node.attr)
    ]
    assert not missing
