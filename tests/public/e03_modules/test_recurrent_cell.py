"""The worked examples of recurrent_cell."""

import math

import torch

from grader.checks.contract import Contract, given

W_IH, W_HH = torch.tensor([[0.0], [0.0], [1.0], [0.0]]), torch.tensor([[0.0], [0.0], [2.0], [0.0]])
BIAS, NO = torch.tensor([0.0, math.log(3), 0.0, 0.0]), torch.zeros(4)
X, H, C = torch.tensor([[1.0]]), torch.tensor([[0.5]]), torch.tensor([[2.0]])

lstm_cell = Contract(
    "lstm_cell(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh)",
    example=(
        given(X, H, C, W_IH, W_HH, BIAS, NO),
        (torch.tensor([[0.4813673]]), torch.tensor([[1.9820139]])),
    ),
    dims=("batch hidden", "batch hidden"),
)
gru_cell = Contract(
    "gru_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh)",
    example=(given(X, H, W_IH[:3], W_HH[:3], BIAS[:3], NO[:3]), [[0.601287]]),
    dims="batch hidden",
)
