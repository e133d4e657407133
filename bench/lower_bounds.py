"""The oldest versions that pyproject.toml allows, as constraints for pip: `make lower-bounds` tries them.

Only of what Windvane runs with: the tools of its tests are of the versions in constraints.txt.
"""

import re
import tomllib
from pathlib import Path

EXTRAS = ("studies", "postgres", "service", "demo", "experiments", "parquet", "optuna")
BOUND = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(\[[^\]]*\])?>=(?P<version>[0-9.]+)")


def lowest(project: Path) -> dict[str, str]:
    """The lower bound of every package, by name."""
    described = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    wanted = [*described["dependencies"]]
    wanted += [each for extra in EXTRAS for each in described["optional-dependencies"][extra]]
    found = [BOUND.match(each) for each in wanted]
    return {match["name"]: match["version"] for match in found if match is not None}


if __name__ == "__main__":
    for name, version in lowest(Path(__file__).parents[1] / "pyproject.toml").items():
        print(f"{name}=={version}")
