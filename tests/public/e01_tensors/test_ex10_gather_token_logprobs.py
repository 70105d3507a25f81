"""The contract of gather_token_logprobs."""

import math

from grader.checks.contract import Contract

contract = Contract(
    "token_logprobs(logits, targets)",
    example=(
        ([[[1.0, 1.0], [0.0, math.log(3.0)]]], [[0, 1]]),
        [[math.log(1 / 2), math.log(3 / 4)]],
    ),
    dims="batch time",
)
