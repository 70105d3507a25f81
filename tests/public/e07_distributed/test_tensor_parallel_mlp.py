"""The worked example of tensor_parallel_mlp."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal
from grader.checks.distributed import run_ranks

PARTS = [
    {"up.weight": [[1.0]], "up.bias": [0.0], "down.weight": [[3.0]], "down.bias": [0.5]},
    {"up.weight": [[2.0]], "up.bias": [1.0], "down.weight": [[5.0]], "down.bias": [0.5]},
]


def local(tensor):
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def worked_example(rank, world_size, answer):
    up, down = nn.Linear(1, 2), nn.Linear(2, 1)
    up.load_state_dict({"weight": torch.tensor([[1.0], [2.0]]), "bias": torch.tensor([0.0, 1.0])})
    down.load_state_dict({"weight": torch.tensor([[3.0, 5.0]]), "bias": torch.tensor([0.5])})
    mlp = answer.TensorParallelMLP(up, down, activation=torch.relu)
    parts = {name: local(p.detach()).clone() for name, p in mlp.named_parameters()}
    x = torch.tensor([[2.0]], requires_grad=True)
    y = mlp(x)
    y.backward()
    return parts, y.detach() + 0, x.grad


@pytest.mark.multi_process
def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks: parts, result and gradient."""
    for rank, (parts, y, gradient) in enumerate(run_ranks(2, worked_example, answer=answer)):
        expect_equal(sorted(parts), sorted(PARTS[rank]), f"the names of the parameters on rank {rank}")
        for name, part in PARTS[rank].items():
            expect_close(parts[name], torch.tensor(part), f"{name} on rank {rank}")
        results = {
            "the activation is GELU, and not the one that was given": lambda: (
                F.gelu(torch.tensor([[2.0, 5.0]])) @ torch.tensor([[3.0], [5.0]]) + 0.5
            ),
            "that is this rank's term: the terms are not added up": lambda r=rank: torch.tensor(
                [[[6.5, 25.5][r]]]
            ),
            "the bias of down is added once on every rank": lambda: torch.tensor([[32.0]]),
            "that is the mean of the terms, where their sum is wanted": lambda: torch.tensor([[16.0]]),
        }
        gradients = {
            "that is this rank's part: the ranks' gradients of x are not added up": lambda r=rank: (
                torch.tensor([[[3.0, 10.0][r]]])
            ),
            "what comes through the MLP is counted once for each rank": lambda: torch.tensor([[26.0]]),
            "the graph is cut where the terms are added up": lambda: None,
        }
        expect_close(y, torch.tensor([[31.5]]), f"mlp(x) on rank {rank}", suspects=results)
        call = f"the gradient of x on rank {rank}"
        expect_close(gradient, torch.tensor([[13.0]]), call, suspects=gradients)
