"""The worked example of stable_decay."""

import torch

from grader.checks.contract import Contract, given

contract = Contract(
    "wsd(step, total, warmup, decay, peak, floor, shape)",
    example=[
        (
            given(range(11), total=9, warmup=2, decay=4, peak=0.8),
            [0.4, 0.8, 0.8, 0.8, 0.8, 0.8, 0.6, 0.4, 0.2, 0.0, 0.0],
        ),
        (given([8], total=9, warmup=2, decay=4, peak=0.8, shape="sqrt"), [0.1071797]),
    ],
    dims="step",
    use=lambda answer, steps, **numbers: torch.tensor([float(answer.wsd(n, **numbers)) for n in steps]),
)
