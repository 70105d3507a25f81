"""The worked example of compile_blocks: three blocks, one graph."""

import torch
from torch import nn

from grader.checks import expect_equal, expect_that


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + self.linear(x).relu()


def test_worked_example(answer):
    """Three blocks are compiled, and share one graph."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    model = nn.Sequential(nn.Linear(3, 4), Block(4), Block(4), Block(4))
    wrong_numbers = {
        "the number of blocks is not returned": lambda: None,
        "all modules of the model are counted": lambda: len(list(model.modules())),
    }
    number = answer.compile_blocks(model, Block, backend)
    expect_equal(number, 3, "compile_blocks(model, Block, backend)", suspects=wrong_numbers)
    model(torch.ones(2, 3))
    mistakes = {
        "the blocks of this model are not compiled": lambda: 0,
        "each block has a graph of its own: for the compiler they are not alike": lambda: 3,
    }
    expect_equal(len(graphs), 1, "the number of graphs after a call of the model", suspects=mistakes)
    names = list(model.state_dict())
    expect_that("1.linear.weight" in names, "the names in the state_dict are others", yours=", ".join(names))
