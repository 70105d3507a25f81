"""The worked examples of distil."""

import torch

from grader.checks.contract import Contract, given

TEACHER = torch.tensor([[[9.0, 1.0, 4.0], [1.0, 4.0, 1.0]]]).log()
STUDENT = torch.tensor([[[1.0, 1.0, 4.0], [1.0, 1.0, 4.0]]]).log()

contract = Contract(
    "distillation_loss(student, teacher, targets, temperature, alpha)",
    example=[
        (given(STUDENT, TEACHER, torch.tensor([[0, 2]]), alpha=0.75), torch.tensor(0.7503449)),
        (given(STUDENT, TEACHER, torch.tensor([[0, -100]]), alpha=0.75), torch.tensor(0.8794631)),
    ],
)
