"""What grades compile_blocks: graphs, what is in them, names, results; subclasses, training, errors."""

import copy

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that

CALL = "compile_blocks(model, Block, backend)"


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + self.linear(x).relu()


class Wide(Block):
    def forward(self, x):
        return super().forward(x).tanh()


class Tower(nn.Module):
    """Blocks in a list and deeper down, with other layers around them."""

    def __init__(self, width, layers):
        super().__init__()
        self.first = nn.Linear(3, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers - 2))
        self.deep = nn.ModuleDict({"inner": nn.Sequential(nn.Tanh(), Block(width)), "last": Block(width)})
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        x = self.first(x).sigmoid()
        for block in self.blocks:
            x = block(x)
        return self.head(self.deep["last"](self.deep["inner"](x)))


class Seen:
    """A backend that runs each graph as it is, and remembers which operations are in it."""

    def __init__(self):
        self.graphs = []
        torch.compiler.reset()

    def __call__(self, graph, inputs):
        calls = [node for node in graph.graph.nodes if node.op in ("call_function", "call_method")]
        self.graphs.append([getattr(node.target, "__name__", str(node.target)) for node in calls])
        return graph.forward


def tower(gen, width=4, layers=5):
    """A tower with weights of its own, and a batch."""
    model = Tower(width, layers)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=gen) / 2)
    return model, torch.randn(2, 3, generator=gen)


def last_everywhere(model):
    """The model with the weights of its last block in all blocks."""
    for block in model.blocks:
        block.load_state_dict(model.deep["last"].state_dict())
    model.deep["inner"][1].load_state_dict(model.deep["last"].state_dict())
    return model


def told(graphs):
    return "; ".join(", ".join(names) for names in graphs) or "none"


def test_one_graph(answer, gen):
    """Five blocks share one graph."""
    model, x = tower(gen)
    answer.compile_blocks(model, Block, seen := Seen())
    model(x)
    expect_that(
        len(seen.graphs) == 1,
        f"{len(seen.graphs)} graphs after {CALL} and a call",
        yours=told(seen.graphs),
        wanted="one for all five blocks",
    )


def test_what_is_compiled(answer, gen):
    """Blocks are in the graph, and nothing else is."""
    model, x = tower(gen)
    answer.compile_blocks(model, Block, seen := Seen())
    model(x)
    names = {name for graph in seen.graphs for name in graph}
    expect_that(
        "sigmoid" not in names, "what stands around the blocks is compiled as well", yours=told(seen.graphs)
    )
    layers = sum(name == "linear" for graph in seen.graphs for name in graph)
    expect_that(
        layers <= 1 or len(seen.graphs) > 1, "the graph holds several blocks", yours=told(seen.graphs)
    )


@pytest.mark.parametrize("part", ["first", "in the list", "in a Sequential", "last"])
def test_every_block(answer, gen, part):
    """Each block is compiled, wherever it is in the model."""
    model, _ = tower(gen)
    answer.compile_blocks(model, Block, seen := Seen())
    places = {"first": model.blocks[0], "in the list": model.blocks[2]}
    places |= {"in a Sequential": model.deep["inner"][1], "last": model.deep["last"]}
    places[part](torch.ones(2, 4))
    expect_that(bool(seen.graphs), f"the block {part} is not compiled: a call makes no graph")
    expect_equal(len(seen.graphs), 1, f"the number of graphs after a call of the block {part}")


def test_number(answer, gen):
    """It returns how many blocks there are."""
    for layers in (3, 6):
        model, _ = tower(gen, layers=layers)
        expect_equal(answer.compile_blocks(model, Block, Seen()), layers, f"{CALL} of {layers} blocks")


def test_names(answer, gen):
    """The names in the state_dict stay, and so a checkpoint can be loaded."""
    model, _ = tower(gen)
    names = list(model.state_dict())
    answer.compile_blocks(model, Block, Seen())
    expect_that(
        list(model.state_dict()) == names,
        f"{CALL} changes the names in the state_dict: a checkpoint of before does not fit",
        yours=", ".join(model.state_dict()),
    )


def test_results(answer, gen):
    """The model returns what it returned before."""
    model, x = tower(gen)
    wanted, plain = model(x).detach(), copy.deepcopy(model)
    answer.compile_blocks(model, Block, Seen())
    mistakes = {"every block computes what the last one does": lambda: last_everywhere(plain)(x).detach()}
    expect_close(
        model(x).detach(), wanted, f"model(x) after {CALL}", dims="batch classes", ulps=100, suspects=mistakes
    )


@pytest.mark.fine
def test_subclass(answer):
    """Blocks of a subclass are compiled as well."""
    model = nn.Sequential(nn.Linear(3, 3), Wide(3), Wide(3))
    expect_equal(answer.compile_blocks(model, Block, seen := Seen()), 2, f"{CALL} with a subclass of Block")
    model(torch.ones(2, 3))
    expect_equal(len(seen.graphs), 1, "the number of graphs with a subclass of Block")


@pytest.mark.fine
def test_shared_block(answer):
    """A block that is used twice counts once."""
    block = Block(3)
    model = nn.Sequential(nn.Linear(3, 3), block, nn.Tanh(), block, Block(3))
    expect_equal(answer.compile_blocks(model, Block, seen := Seen()), 2, f"{CALL} with a block used twice")
    model(torch.ones(2, 3))
    expect_equal(len(seen.graphs), 1, "the number of graphs with a block used twice")


@pytest.mark.fine
def test_training_goes_on(answer, gen):
    """Modules and parameters stay the same, and get gradients."""
    model, x = tower(gen)
    wanted = torch.autograd.grad(model(x).square().sum(), list(model.parameters()))
    parameters, blocks = list(model.parameters()), list(model.blocks)
    answer.compile_blocks(model, Block, Seen())
    kept = all(a is b for a, b in zip(parameters, model.parameters(), strict=True))
    expect_that(kept, f"{CALL} puts other parameters into the model")
    expect_that(
        all(a is b for a, b in zip(blocks, model.blocks, strict=True)),
        f"{CALL} replaces modules of the model",
    )
    found = torch.autograd.grad(model(x).square().sum(), parameters)
    for name, yours, its in zip(model.state_dict(), found, wanted, strict=True):
        expect_close(yours, its, f"the gradient for {name} after {CALL}", ulps=500)


@pytest.mark.fine
def test_no_block(answer):
    """A model without such a block raises ValueError."""
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    expect_raises(
        ValueError, lambda: answer.compile_blocks(model, Block, Seen()), f"{CALL} without any Block"
    )


def oracle(answer, gen):
    def case(layers, width):
        model, x = tower(gen, width, layers)
        number = answer.compile_blocks(model, Block, seen := Seen())
        result = model(x).detach()
        return {
            "number": number,
            "graphs": told(seen.graphs),
            "result": result,
            "names": list(model.state_dict()),
        }

    return {
        "three blocks": case(3, 2),
        "five blocks": case(5, 4),
        "six blocks": case(6, 3),
    }
