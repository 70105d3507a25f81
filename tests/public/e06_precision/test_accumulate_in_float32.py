"""The worked example of feature_means, and the sum that stalls."""

import torch

from grader.checks.contract import Contract, given

BATCHES = [torch.tensor([[1.0, 300.0], [2.0, 1.0]]).bfloat16(), torch.tensor([[7.0, 2.0]]).bfloat16()]

contract = Contract(
    "feature_means(batches)",
    use=lambda answer, batches: answer.feature_means(batches if type(batches) is list else iter(batches)),
    example=[
        (given(BATCHES), torch.tensor([10.0, 303.0]) / 3),
        (given((torch.ones(1, 2).bfloat16(),) * 10_000), torch.ones(2)),
    ],
)
