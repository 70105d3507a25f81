"""The worked example of DataParallelModel: start, gradient and weight on two ranks."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_that
from grader.checks.distributed import run_ranks


def worked_example(rank, world_size, answer):
    module = nn.Linear(1, 1, bias=False)
    nn.init.constant_(module.weight, [2.0, 5.0][rank])
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    model = answer.DataParallelModel(module)
    start = module.weight.detach().clone()
    model(torch.tensor([[[1.0]], [[3.0]]][rank])).sum().backward()
    model.finish_gradients()
    optimizer.step()
    return start, module.weight.grad, module.weight.detach()


@pytest.mark.multi_process
def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks: the start, the gradient, the weight."""
    starts = {"this is what rank 1 has brought: nothing came from rank 0": lambda: torch.tensor([[5.0]])}
    grads = {
        "that is the sum over the ranks": lambda: torch.tensor([[4.0]]),
        "that is the gradient of rank 0 alone": lambda: torch.tensor([[1.0]]),
        "that is the gradient of rank 1 alone": lambda: torch.tensor([[3.0]]),
    }
    for rank, (start, grad, weight) in enumerate(run_ranks(2, worked_example, answer=answer)):
        expect_close(
            start, torch.tensor([[2.0]]), f"the weight after wrapping, on rank {rank}", suspects=starts
        )
        expect_that(grad is not None, f"the weight has no gradient on rank {rank}", yours="None")
        expect_close(grad, torch.tensor([[2.0]]), f"the gradient on rank {rank}", suspects=grads)
        other = {
            "the step did not reach it: the parameters that the optimizer holds were replaced": lambda: (
                torch.tensor([[2.0]])
            )
        }
        call = f"the weight after the step, on rank {rank}"
        expect_close(weight, torch.tensor([[1.8]]), call, suspects=other)
