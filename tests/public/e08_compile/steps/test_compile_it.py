"""The suite of compile_it."""

import sys
from contextlib import contextmanager

import torch

from grader.checks import expect_close, expect_raises, expect_that
from grader.checks.compile.graphs import compiled

FUNCTIONS = {
    "2 * x + 1": lambda x: 2 * x + 1,
    "x.sin() ** 2": lambda x: x.sin() ** 2,
    "x.cumsum(0) / len(x)": lambda x: x.cumsum(0) / len(x),
}


@contextmanager
def without_inductor():
    """Keep PyTorch's default backend out of reach: to import it takes many seconds."""
    name = "torch._inductor.compile_fx"
    kept = sys.modules.pop(name, None)
    sys.modules[name] = None
    try:
        yield
    finally:
        del sys.modules[name]
        if kept:
            sys.modules[name] = kept


class Backend:
    """Runs graphs as they are, and counts them."""

    def __init__(self):
        self.graphs = 0

    def __call__(self, graph, inputs):
        self.graphs += 1
        return graph.forward

    def run(self, answer, fn, x):
        torch.compiler.reset()
        with without_inductor():
            try:
                return answer.compile_it(fn, self)(x)
            except RuntimeError as error:
                its_own = "inductor" not in str(error)
                expect_that(its_own, "compile_it(fn, backend) compiles for inductor: hand the backend on")
                raise


def warm_up():
    """The first compilation imports the compiler, for seconds."""
    with compiled(torch.sin, "sin(x)") as sin:
        sin(torch.ones(1))


def two_graphs(x):
    if x.sum() > 0:
        return x
    return -x


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    yours = Backend().run(answer, FUNCTIONS["2 * x + 1"], torch.tensor([1.0, 2.0]))
    expect_close(yours, torch.tensor([3.0, 5.0]), "compile_it(fn, backend)(x)")


def test_compiled(answer, gen):
    """The function is compiled, in one graph that the given backend gets, and computes the same."""
    for text, fn in FUNCTIONS.items():
        x, backend = torch.randn(5, generator=gen), Backend()
        expect_close(backend.run(answer, fn, x), fn(x), f"compile_it(lambda x: {text}, backend)(x)")
        what = "fn is not compiled with the given backend: it got no graph from compile_it(fn, backend)"
        expect_that(backend.graphs == 1, what, yours=f"{backend.graphs} graphs", wanted="1 graph")


def test_full_graph(answer):
    """Code that does not fit in one graph is an error: fullgraph=True."""
    what = "compile_it(fn, backend)(x), where fn has an `if` on a tensor,"
    expect_raises(RuntimeError, lambda: Backend().run(answer, two_graphs, torch.ones(2)), what)


def oracle(answer, gen):
    return {text: Backend().run(answer, fn, torch.randn(5, generator=gen)) for text, fn in FUNCTIONS.items()}
