"""The texts of a new project, by their places: a small one that works, with `TODO: ` as in `texts`."""

from collections.abc import Mapping

from grader.course.exercise import Tree

STATEMENT = '''"""TODO: what it is about, in a line.

TODO: the job, in 120 words at most: a real situation, which files to write, up to five rules of a line each.

- `reading.read(folder)` gives the numbers in `numbers.txt` of a folder. An example lies in `data`.
- `model.{slug}(x)` doubles every number.

    model.{slug}(reading.read(data))      # [2, 4, 6]

Fine print:
- TODO: what goes beyond the job, a line each: dtypes, strides, empty inputs, errors.
"""
'''

_READING = """from pathlib import Path

{imports}from jaxtyping import Float
from torch import Tensor


def read(folder: Path) -> Float[Tensor, " numbers"]:
"""

_MODEL = """from jaxtyping import Float
from torch import Tensor


def {slug}(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
"""

_TO_WRITE = "    raise NotImplementedError\n"

_READ = """    numbers = (folder / "numbers.txt").read_text("utf-8").split()
    return torch.tensor([float(number) for number in numbers])  # (numbers,)  TODO: the reference
"""

_DOUBLE = "    return x * 2  # (*shape)  TODO: the reference, with the shape behind each line\n"

_PUBLIC = '''"""The worked example of {slug}."""

import torch

from grader.checks import expect_close


def test_worked_example(answer, data):
    """The worked example of the statement comes out."""
    x = answer.reading.read(data)
    wanted = torch.tensor([2.0, 4.0, 6.0])  # TODO: the numbers of the statement's example
    expect_close(answer.model.{slug}(x), wanted, "{slug}(read(data))")
'''

_HIDDEN = '''"""What grades {slug}."""

import torch

from grader.checks.contract import Contract, dtypes, empties, gradients, untouched


def {slug}(answer, x):
    return answer.model.{slug}(x)


contract = Contract(
    "{slug}(x)",
    use={slug},
    reference=lambda x: x * 2,  # TODO: the reference, slow, plain and right
    inputs=lambda gen: {{  # TODO: ordinary calls, three or more, in a learner's words
        f"{{rows}} rows": torch.randn(rows, 4, generator=gen) for rows in (2, 3, 7)
    }},
    suspects={{  # TODO: the mistakes that people make, in words that the feedback is to say
        "every number is tripled": lambda x: x * 3
    }},
    job=[gradients("x")],  # TODO: what a reviewer would call a bug in a first version
    fine=[dtypes(torch.float64), empties(), untouched()],  # TODO: what the fine print says, and nothing else
)
'''

FILES: Mapping[Tree, Mapping[str, str]] = {
    "exercises": {
        "__init__.py": STATEMENT,
        "reading.py": _READING.format(imports="") + _TO_WRITE,
        "model.py": _MODEL + _TO_WRITE,
        "data/numbers.txt": "1 2 3\n",
    },
    "solutions": {
        "__init__.py": "",
        "reading.py": _READING.format(imports="import torch\n") + _READ,
        "model.py": _MODEL + _DOUBLE,
    },
    "public": {"": _PUBLIC},
    "hidden": {"": _HIDDEN},
}
"""Of each place its files, by their paths in the project; a suite is one file."""
