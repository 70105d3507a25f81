"""The worked example of training_memory."""

import torch
from torch import nn

from grader.checks.contract import Contract, given

MODEL = nn.Sequential(nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 10))
HOW = {"dtype": torch.bfloat16, "master_weights": True}

WANTED = {"parameters": 1011020, "gradients": 1011020, "master": 2022040, "optimizer": 4044080}
WANTED |= {"activations": 192000, "total": 8280160}

memory = Contract(
    "training_memory(model, batch, saved, dtype, master_weights)",
    example=(given(MODEL, batch=64, saved=1500, **HOW), WANTED),
)

largest = Contract(
    "largest_batch(model, saved, budget, dtype, master_weights)",
    example=(given(MODEL, saved=1500, budget=9_000_000, **HOW), 303),
)
