"""The contract of expand_not_repeat."""

import torch

from grader.checks.contract import Contract, given

PROMPT = [[1.0, 2.0], [3.0, 4.0]]

share = Contract("share(prompt, beams)", example=((PROMPT, 3), [PROMPT] * 3), dims="beams time dim")
own = Contract("own(prompt, beams)", example=((PROMPT, 3), [PROMPT] * 3), dims="beams time dim")
add_positions = Contract(
    "add_positions(x, table)",
    example=(given(torch.zeros(2, 2, 2), torch.tensor([*PROMPT, [5.0, 6.0]])), [PROMPT] * 2),
    dims="batch time dim",
)
