"""The worked examples of kl_losses."""

import torch

from grader.checks.contract import Contract

categorical_kl = Contract(
    "categorical_kl(p, logits)",
    example=(
        (torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[1.0, 3.0, 4.0]]).log()),
        torch.tensor(0.4184940),
    ),
)
gaussian_kl = Contract(
    "gaussian_kl(mean, log_variance)",
    example=((torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 2.0]])), torch.tensor(2.6945281)),
)
