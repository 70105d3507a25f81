"""The worked example of compile_blocks: three blocks, one graph."""

import torch
from torch import nn

from grader.checks import expect_equal


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
    expect_equal(answer.compile_blocks(model, Block, backend), 3, "compile_blocks(model, Block, backend)")
    model(torch.ones(2, 3))
    expect_equal(len(graphs), 1, "the number of graphs after a call of the model")
