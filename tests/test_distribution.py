"""What a wheel and a source distribution are made of; `make dist` builds, installs and uses them."""

import fnmatch
import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

import windvane

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "windvane"
SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETUP["project"]
IGNORED = {".pyc", ".pyo"}


def test_every_file_of_the_package_is_in_the_wheel():
    """Python files by the folder they are in, others by a pattern."""
    patterns = SETUP["tool"]["setuptools"]["package-data"]["windvane"]
    files = [file for file in PACKAGE.rglob("*") if file.is_file() and file.suffix not in IGNORED]
    lost = [
        file.relative_to(PACKAGE).as_posix()
        for file in files
        if file.suffix != ".py"
        and not any(fnmatch.fnmatch(file.relative_to(PACKAGE).as_posix(), each) for each in patterns)
    ]
    assert not lost
    folders = {file.parent for file in files if file.suffix == ".py"}
    assert not [folder for folder in folders if not (folder / "__init__.py").is_file()]


@pytest.mark.parametrize("name", ["py.typed", "service/dashboard/index.html", "service/dashboard/style.css"])
def test_files_that_are_no_python_are_there(name):
    assert (PACKAGE / name).is_file()


def test_a_source_distribution_has_what_the_tests_need():
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    named = {word for line in lines if line.startswith(("include ", "graft ")) for word in line.split()[1:]}
    assert named >= {"tests", "docs", "examples", "bench", "Makefile", "constraints.txt", "mkdocs.yml"}
    assert all((ROOT / name).exists() for name in named)


def test_the_version_is_one():
    assert PROJECT["version"] == windvane.__version__


def test_the_changelog_begins_with_this_version_and_with_what_there_is_to_do():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[([^\]]+)\]", text, re.MULTILINE)[0] == PROJECT["version"]
    parts = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert parts.index("Coming from 0.1") < parts.index("Added") < parts.index("Fixed")


def test_metadata_is_complete():
    for field in (
        "description",
        "readme",
        "requires-python",
        "license",
        "keywords",
        "classifiers",
        "authors",
    ):
        assert PROJECT[field], field
    assert (ROOT / PROJECT["readme"]).is_file()
    assert all((ROOT / file).is_file() for file in PROJECT["license-files"])
    assert len(PROJECT["description"]) <= 200
    least = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {least}" in PROJECT["classifiers"]
    assert not [
        each for each in PROJECT["classifiers"] if each.startswith("License ::")
    ]  # PEP 639: the field has it


def test_every_extra_is_checked_alone():
    """`make extras` knows each of them; test is for the repository."""
    text = (ROOT / "bench" / "extras.py").read_text(encoding="utf-8")
    assert all(f'"{extra}":' in text for extra in PROJECT["optional-dependencies"] if extra != "test")


def test_what_is_installed_is_this_project():
    assert importlib.metadata.metadata("windvane")["Requires-Python"] == PROJECT["requires-python"]
