"""What comes with the package, in the parts that other folders get of it."""

import re

from grader.course import paths


def pytest_settings() -> str:
    """A `pyproject.toml` for a course apart from the package: what pytest reads of the package's."""
    tables = re.split(r"^(?=\[)", (paths.SOURCE / "pyproject.toml").read_text("utf-8"), flags=re.MULTILINE)
    settings = [table for table in tables if table.startswith("[tool.pytest.")]
    return "".join(settings).rstrip() + "\n"


def without_chapters(readme: str, *titles: str) -> str:
    """The README without the chapters that are not for its readers."""
    parts = re.split(r"^(?=## )", readme, flags=re.MULTILINE)
    return "".join(part for part in parts if part.partition("\n")[0].removeprefix("## ") not in titles)
