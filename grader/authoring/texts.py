"""The texts of a new exercise or step: a small one that works, with `TODO: ` where an author is to write."""

HEAD = """from jaxtyping import Float
from torch import Tensor


def {slug}(x: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
"""

STATEMENT = '''"""TODO: what it is about, in a line.

TODO: the job, in 120 words at most: a real situation, what to write, up to five rules of a line each.

    {slug}(torch.tensor([[1.0, 2.0]]))      # [[2, 4]]

Fine print:
- TODO: what goes beyond the job, a line each: dtypes, strides, empty inputs, errors.
"""

'''

STEP_STATEMENT = '''"""TODO: what it does, in a line, with the call in backticks.

TODO: one sentence of situation and what to return; at most two rules; 80 words in all.

    {slug}(torch.tensor([[1.0, 2.0]]))      # tensor([[2., 4.]])

New here: TODO: the syntax that the step introduces, so that nobody has to search for it.
"""

'''

BODY = {
    "build": "    raise NotImplementedError\n",
    "fix": "    return x * 3  # TODO: plausible code that goes wrong\n",
}

SOLUTION = "    return x * 2  # (rows, columns)  TODO: the reference, with the shape behind each line\n"

EXAMPLE = '''"""The worked example of {slug}."""

from grader.checks.contract import Contract

# TODO: the numbers of the statement's example
contract = Contract("{slug}(x)", example=([[1.0, 2.0]], [[2.0, 4.0]]))
'''

SUITE = '''"""What grades {slug}."""

import torch

from grader.checks.contract import Contract, dtypes, empties, gradients, untouched

contract = Contract(
    "{slug}(x)",
    reference=lambda x: x * 2,  # TODO: the reference, slow, plain and right
    inputs=lambda gen: {{  # TODO: ordinary calls, three or more, in a learner's words
        f"{{rows}} rows": torch.randn(rows, 4, generator=gen) for rows in (2, 3, 7)
    }},
    suspects={{  # TODO: the mistakes that people make, in words that the feedback is to say
        "every number is tripled": lambda x: x * 3
    }},
    job=[gradients("x")],  # TODO: checks of what a reviewer would call a bug in a first version
    fine=[dtypes(torch.float64), empties(), untouched()],  # TODO: checks of the fine print alone
)
'''

STEP_SUITE = '''"""The suite of {slug}."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "{slug}(x)",
    reference=lambda x: x * 2,  # TODO: the reference, slow, plain and right
    example=([[1.0, 2.0]], [[2.0, 4.0]]),  # TODO: the numbers of the statement
    inputs=lambda gen: [  # TODO: three to five ordinary inputs
        torch.randn(size, generator=gen) for size in ((2, 3), (4, 4), (1, 5))
    ],
    suspects={{  # TODO: the pitfall first, in words that a beginner has met by then
        "every number is tripled": lambda x: x * 3
    }},
)
'''

SPECIMENS = """# Answers to {slug} that people write.

wrong job test_values "is tripled": TODO: a mistake in the job, one of six to fifteen
- x * 2
+ x * 3

wrong fine test_empty: TODO: a mistake in the fine print of just this exercise
- x * 2
+ x * 2 + 0 * x.max()

works: TODO: an answer as textbooks write it
- x * 2
+ x.float() * 2

works: TODO: an answer as well-known code writes it
- x * 2
+ x.float() + x.float()

right: TODO: a right answer, written differently
- x * 2
+ x + x

right: TODO: the most unusual right answer that you can think of
- x * 2
+ x.mul(2)
"""

STEP_SPECIMENS = """# Answers to {slug}.

wrong job test_worked_example "is tripled": TODO: the pitfall, which the feedback is to name
- x * 2
+ x * 3

wrong job test_values: TODO: a second mistake
- x * 2
+ (x * 2)[0]

wrong job test_values: TODO: one of another kind
- x * 2
+ (x * 2).int()

right: TODO: right, by a beginner's detour
- x * 2
+ x + x

right: TODO: right, by another function
- x * 2
+ x.mul(2)
"""

ROW = """
[exercise.{slug}]
kind = "{kind}"
path = "core"
title = "{title}"
points = 1
difficulty = 1
minutes = 10
needs = []
concepts = []
hints = []
why = ""
reading = ""
start = "{start}"
"""

STEP_ROW = """
[exercise.{slug}]
kind = "{kind}"
title = "{title}"
concepts = []
hints = []
why = ""
start = "{start}"
"""

CONFTEST = 'pytest_plugins = ["grader.plugin.plugin"]\n'

SECTION = 'title = "{title}"\n'

CHAPTER = "# {title}\n\nTODO: what this section is about, in a paragraph\n"
