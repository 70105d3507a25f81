"""The worked example of embedding_with_padding."""

import torch

from grader.checks import expect_close, expect_gradient


def test_worked_example(answer):
    """The worked example of the statement comes out, with its gradient."""
    layer = answer.PaddedEmbedding(tokens=3, dim=2, padding=0)
    layer.load_state_dict({"weight": torch.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]])})
    y = layer(torch.tensor([[2, 1, 0], [1, 0, 0]]))
    wanted = [[[3.0, 4.0], [1.0, 2.0], [0.0, 0.0]], [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]]
    expect_close(y.detach(), torch.tensor(wanted), "layer(ids)", dims="text time dim")
    y.sum().backward()
    wanted = torch.tensor([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]])
    suspects = {
        "the row of padding has a gradient too": lambda: torch.tensor([[3.0, 3.0], [2.0, 2.0], [1.0, 1.0]])
    }
    expect_gradient(layer.weight.grad, wanted, "layer(ids).sum() for weight", suspects=suspects)
