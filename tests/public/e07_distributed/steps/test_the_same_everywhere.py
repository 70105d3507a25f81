"""The suite of the_same_everywhere, on two real processes."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def network(numbers):
    """A model of two linear layers with these parameters."""
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    nn.utils.vector_to_parameters(numbers, model.parameters())
    return model


def parameters_after(rank, world_size, answer, numbers):
    model = network(numbers[rank].clone())
    answer.the_same_everywhere(model)
    return {name: p.detach() for name, p in model.named_parameters()}


def worked_example(rank, world_size, answer):
    model = nn.Linear(1, 1)
    nn.init.constant_(model.weight, [2.0, 7.0][rank])
    nn.init.constant_(model.bias, [1.0, 3.0][rank])
    answer.the_same_everywhere(model)
    return model.weight.detach(), model.bias.detach()


def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks."""
    for rank, (weight, bias) in enumerate(run_ranks(2, worked_example, answer=answer)):
        where = f"on rank {rank} after the_same_everywhere(model)"
        expect_close(weight, torch.tensor([[2.0]]), f"model.weight {where}")
        expect_close(bias, torch.tensor([1.0]), f"model.bias {where}")


def test_values(answer, gen):
    """Both ranks have all parameters of rank 0, weights and biases."""
    numbers = torch.randn(2, 13, generator=gen)
    made = [dict(network(row).named_parameters()) for row in numbers]
    for rank, found in enumerate(run_ranks(2, parameters_after, numbers, answer=answer)):
        for name, yours in found.items():
            suspects = {
                "this rank still has its own: all_reduce and broadcast write into what they are given": (
                    lambda rank=rank, name=name: made[rank][name].detach()
                ),
                "this is what the last rank has": lambda name=name: made[1][name].detach(),
            }
            where = f"{name} on rank {rank} after the_same_everywhere(model)"
            expect_close(yours, made[0][name].detach(), where, suspects=suspects)


def oracle(answer, gen):
    first, second = run_ranks(2, parameters_after, torch.randn(2, 13, generator=gen), answer=answer)
    return {
        "weights of rank 0": first["0.weight"],
        "weights of rank 1": second["0.weight"],
        "all of rank 1": second,
    }
