"""The contract of tensor_parallel_mlp."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process

PARTS = [
    {"up.weight": [[1.0]], "up.bias": [0.0], "down.weight": [[3.0]], "down.bias": [0.5]},
    {"up.weight": [[2.0]], "up.bias": [1.0], "down.weight": [[5.0]], "down.bias": [0.5]},
]


def worked_example(rank, world_size, answer):
    up, down = nn.Linear(1, 2), nn.Linear(2, 1)
    up.load_state_dict({"weight": torch.tensor([[1.0], [2.0]]), "bias": torch.tensor([0.0, 1.0])})
    down.load_state_dict({"weight": torch.tensor([[3.0, 5.0]]), "bias": torch.tensor([0.5])})
    mlp = answer.TensorParallelMLP(up, down, activation=torch.relu)
    x = torch.tensor([[2.0]], requires_grad=True)
    y = mlp(x)
    y.backward()
    return {name: p.detach() for name, p in mlp.named_parameters()}, y.detach(), x.grad


def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks: parts, result and gradient."""
    for rank, (parts, y, gradient) in enumerate(run_ranks(2, worked_example, answer=answer)):
        expect_equal(sorted(parts), sorted(PARTS[rank]), f"the names of the parameters on rank {rank}")
        for name, part in PARTS[rank].items():
            expect_close(parts[name], torch.tensor(part), f"{name} on rank {rank}")
        expect_close(y, torch.tensor([[31.5]]), f"mlp(x) on rank {rank}")
        expect_close(gradient, torch.tensor([[13.0]]), f"the gradient of x on rank {rank}")


def build(rank, world_size, answer, hidden):
    call = f"TensorParallelMLP(nn.Linear(2, {hidden}), nn.Linear({hidden}, 3)) on {world_size} ranks"
    expect_raises(
        ValueError, lambda: answer.TensorParallelMLP(nn.Linear(2, hidden), nn.Linear(hidden, 3)), call
    )


def test_hidden_units_that_do_not_divide(answer):
    """Hidden units that the ranks cannot share evenly get a ValueError."""
    run_ranks(2, build, 5, answer=answer)
