"""A repository of somebody's own, with a patch for each bug, for tests that bring it."""

from difflib import unified_diff
from pathlib import Path

from tests.grader.support.project import write

PROGRAM = {
    "data.py": """def numbers(count):
    return [*range(count)]


def halves(numbers):
    return numbers[::2], numbers[1::2]
""",
    "parts/sums.py": """from data import numbers


def total(count):
    found = 0
    for n in numbers(count):
        found += n
    return found
""",
    "main.py": """import data
from parts.sums import total


def main(count=4):
    return total(count), data.halves([1, 2])


if __name__ == "__main__":
    print(main())
""",
}
BUGS = {
    "one_too_many": ("data.py", "range(count)", "range(count + 1)"),
    "halves_alike": ("data.py", "numbers[1::2]", "numbers[::2]"),
    "from_one": ("parts/sums.py", "found = 0", "found = 1"),
    "last_alone": ("parts/sums.py", "found += n", "found = n"),
    "five_of_them": ("main.py", "count=4", "count=5"),
    "twice": ("parts/sums.py", "return found", "return 2 * found"),
}
AROUND = {
    "README.md": "# sums\n\n    python main.py\n",
    ".gitignore": "*.pyc\n",
    "setup.py": "import setuptools\n",
}


def patch(file: str, right: str, wrong: str) -> str:
    """A change of a file as a unified diff."""
    lines = (text.splitlines(keepends=True) for text in (right, wrong))
    return "".join(unified_diff(*lines, f"a/{file}", f"b/{file}"))


def patches() -> dict[str, str]:
    """The texts of all patches, by the names of their files."""
    made = {}
    for name, (file, out, into) in BUGS.items():
        made[f"{name}.patch"] = patch(file, PROGRAM[file], PROGRAM[file].replace(out, into))
    return made


def repository(folder: Path, **more: str) -> Path:
    """Write the repository into a folder, with these patches more, or instead."""
    write(folder, {**PROGRAM, **AROUND})
    write(folder / "patches", {**patches(), **{f"{name}.patch": text for name, text in more.items()}})
    return folder
