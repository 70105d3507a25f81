"""What grades any_batch: graphs, symbols, results; a batch of one, keywords, numbers, errors."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that

SIZES = (6, 9, 4)


class Seen:
    """A backend that runs each graph as it is, and remembers which sizes of its inputs are symbols."""

    def __init__(self):
        self.shapes = []
        torch.compiler.reset()

    def __call__(self, graph, inputs):
        taken = [node.meta.get("example_value") for node in graph.graph.nodes if node.op == "placeholder"]
        tensors = [x for x in taken if isinstance(x, torch.Tensor) and not isinstance(x, nn.Parameter)]
        shapes = [["any" if isinstance(n, torch.SymInt) else n for n in x.shape] for x in tensors]
        self.shapes.append(sorted(shapes, key=lambda shape: str(shape[1:])))
        return graph.forward


def scaled(x, y):
    return x * y.sum(1, keepdim=True)


def batch(gen, size, *widths):
    return tuple(torch.randn(size, width, generator=gen) for width in widths)


def ran(answer, fn, batches, **options):
    """The shapes of each graph's inputs, and the results."""
    seen = Seen()
    fast = answer.any_batch(fn, seen)
    return seen.shapes, [fast(*args, **options) for args in batches]


def told(shapes):
    return "; ".join(str(one).replace("'", "") for one in shapes) or "none"


def test_one_graph(answer, gen):
    """One graph serves batches of 6, 9 and 4."""
    shapes, _ = ran(answer, scaled, [batch(gen, size, 3, 5) for size in SIZES])
    expect_that(
        len(shapes) == 1,
        f"{len(shapes)} graphs for batches of {SIZES}",
        yours=told(shapes),
        wanted="one graph, whose batch is a symbol from the first call on",
    )


def test_other_sizes_are_constants(answer, gen):
    """The batch is a symbol in the graph, and the widths are constants."""
    shapes, _ = ran(answer, scaled, [batch(gen, 6, 3, 5)])
    if shapes:
        widths = [size for shape in shapes[0] for size in shape[1:]]
        expect_that("any" not in widths, "a width is a symbol in the graph", inputs=told(shapes))
    expect_equal(
        shapes, [[["any", 3], ["any", 5]]], "the sizes of the inputs of each graph, for a first batch of 6"
    )


def test_results(answer, gen):
    """Results are those of the function."""
    batches = [batch(gen, size, 3, 5) for size in SIZES]
    wanted = [scaled(*args) for args in batches]
    for yours, its, size in zip(ran(answer, scaled, batches)[1], wanted, SIZES, strict=True):
        expect_close(yours, its, f"any_batch(fn)(x, y) for a batch of {size}", dims="batch width")


def test_module(answer, gen):
    """A module is compiled as well, and its parameters get gradients."""
    layer = nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(2, 3, generator=gen))
    batches = [batch(gen, size, 3) for size in SIZES]
    wanted = torch.autograd.grad(sum(layer(*x).square().sum() for x in batches), layer.weight)[0]
    shapes, results = ran(answer, layer, batches)
    found = torch.autograd.grad(sum(y.square().sum() for y in results), layer.weight)[0]
    expect_close(found, wanted, "the gradient for the weight of any_batch(layer)", ulps=100)
    expect_equal(len(shapes), 1, f"the number of graphs of any_batch(layer) for batches of {SIZES}")


@pytest.mark.fine
def test_one_first(answer, gen):
    """A batch of 1 may come first and have a graph of its own; one more serves all others."""
    shapes, results = ran(answer, scaled, [batch(gen, size, 3, 5) for size in (1, *SIZES)])
    expect_equal([len(y) for y in results], [1, *SIZES], "the sizes of the results")
    expect_that(
        1 <= len(shapes) <= 2,
        f"{len(shapes)} graphs for batches of {(1, *SIZES)}",
        yours=told(shapes),
        wanted="one for the batch of 1, one for all others",
    )


@pytest.mark.fine
def test_keywords(answer, gen):
    """Tensors among keyword arguments are batches as well."""
    seen = Seen()
    fast = answer.any_batch(scaled, seen)
    for size in SIZES:
        x, y = batch(gen, size, 3, 5)
        expect_close(fast(x, y=y), scaled(x, y), f"any_batch(fn)(x, y=y) for a batch of {size}")
    expect_equal(len(seen.shapes), 1, f"the number of graphs with a keyword, for batches of {SIZES}")


@pytest.mark.fine
def test_numbers(answer, gen):
    """Numbers and tensors without dimensions are handed on."""
    seen = Seen()
    fast = answer.any_batch(lambda x, by, rate: x * by * rate, seen)
    for size in SIZES:
        (x,) = batch(gen, size, 3)
        expect_close(fast(x, 2.5, torch.tensor(3.0)), x * 7.5, "any_batch(fn)(x, 2.5, torch.tensor(3.0))")
    expect_equal(len(seen.shapes), 1, f"the number of graphs with two numbers, for batches of {SIZES}")


@pytest.mark.fine
def test_plain_number(answer, gen):
    """A function that makes the batch's size a plain number raises at the first call."""
    fast = answer.any_batch(lambda x: x * torch.tensor([1.0] * len(x))[:, None], Seen())
    what = "any_batch(fn)(x), where fn makes a list of len(x) numbers,"
    expect_raises(Exception, lambda: fast(*batch(gen, 6, 3)), what)


def oracle(answer, gen):
    def case(*sizes, widths=(3, 5)):
        shapes, results = ran(answer, scaled, [batch(gen, size, *widths) for size in sizes])
        return {"inputs of graphs": told(shapes), "results": results}

    return {
        "batches of 6, 9 and 4": case(*SIZES),
        "growing batches": case(2, 3, 5, 8, widths=(4, 2)),
        "one batch": case(7, widths=(2, 3)),
    }
