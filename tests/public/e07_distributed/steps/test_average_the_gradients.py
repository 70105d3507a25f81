"""The suite of average_the_gradients, on two and three real processes."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def worked_example(rank, world_size, answer):
    model = nn.Linear(1, 1, bias=False)
    model.weight.grad = torch.tensor([[[2.0, 6.0][rank]]])
    answer.average_the_gradients(model)
    return model.weight.grad


def averaged(rank, world_size, answer, weights, batches):
    """The gradients, and the parameters, of a model after a backward for the rank's batch."""
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
    nn.utils.vector_to_parameters(weights.clone(), model.parameters())
    model(batches[rank]).square().mean().backward()
    own = {name: p.grad.clone() for name, p in model.named_parameters()}
    answer.average_the_gradients(model)
    gradients = {name: p.grad for name, p in model.named_parameters()}
    return gradients, own, nn.utils.parameters_to_vector(model.parameters()).detach()


def drawn(gen):
    return torch.randn(11, generator=gen), torch.randn(3, 4, 3, generator=gen)


def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks."""
    for rank, gradient in enumerate(run_ranks(2, worked_example, answer=answer)):
        where = f"model.weight.grad on rank {rank} after average_the_gradients(model)"
        total = {
            "this is the sum: divide it, in place, by the number of ranks": lambda: torch.tensor([[8.0]])
        }
        expect_close(gradient, torch.tensor([[4.0]]), where, suspects=total)


def test_values(answer, gen):
    """Three ranks have the mean of their gradients, for every parameter, and the parameters stay."""
    weights, batches = drawn(gen)
    found = run_ranks(3, averaged, weights, batches, answer=answer)
    for rank, (gradients, own, after) in enumerate(found):
        for name, yours in gradients.items():
            total = sum(others[name] for _, others, _ in found)
            suspects = {
                "this is the sum: divide it, in place, by the number of ranks": lambda total=total: total,
                "the sum is divided by 2, however many ranks there are": lambda total=total: total / 2,
                "this is the rank's own gradient": lambda own=own, name=name: own[name],
                "this is the rank's own gradient, divided": lambda own=own, name=name: own[name] / 3,
            }
            where = f"the gradient of {name} on rank {rank} after average_the_gradients(model)"
            expect_close(yours, total / 3, where, suspects=suspects, ulps=64)
        expect_close(after, weights, f"the parameters on rank {rank} after average_the_gradients(model)")


def oracle(answer, gen):
    found = run_ranks(3, averaged, *drawn(gen), answer=answer)
    return {f"the gradients on rank {rank}": gradients for rank, (gradients, _, _) in enumerate(found)}
