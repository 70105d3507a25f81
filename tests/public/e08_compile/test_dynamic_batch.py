"""The worked example of any_batch: one graph for three batches."""

import torch

from grader.checks import expect_close, expect_equal


def test_worked_example(answer):
    """Three batches make one graph, and come out doubled."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    double = answer.any_batch(lambda x: 2 * x, backend)
    for size in (5, 7, 3):
        expect_close(double(torch.ones(size, 3)), 2 * torch.ones(size, 3), f"double(torch.ones({size}, 3))")
    mistakes = {
        "fn is not compiled": lambda: 0,
        "the first graph takes its size for a constant: mark the tensor itself, before the call": lambda: 2,
        "each size has a graph of its own": lambda: 3,
    }
    expect_equal(len(graphs), 1, "the number of graphs for batches of 5, 7 and 3", suspects=mistakes)
