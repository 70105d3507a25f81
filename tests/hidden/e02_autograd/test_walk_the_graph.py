"""What grades walk_the_graph: names and leaves of drawn graphs, each once; leaves, long chains, no traces."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import count_steps, expect_equal, expect_gradient, expect_that
from grader.checks.contract import Contract, given

OPERATIONS = (
    torch.mul,
    torch.sub,
    torch.add,
    torch.maximum,
    lambda a, b: a.tanh(),
    lambda a, b: a.exp(),
    lambda a, b: (a + 1).sin(),
)


def grown(program):
    """A result of drawn operations; the first number is a constant, the others are leaves."""
    numbers, picks = program
    made = [torch.tensor(number, requires_grad=place > 0) for place, number in enumerate(numbers)]
    for which, left, right in picks:
        made.append(
            OPERATIONS[which % len(OPERATIONS)](made[-1 - left % min(3, len(made))], made[right % len(made)])
        )
    return made[-1] * made[-2] - made[-3] + made[1]  # a leaf at least


def drawn(gen, leaves, steps):
    """Numbers for a constant and these leaves, and which operations to take of which results."""
    picks = torch.randint(0, 1000, (steps, 3), generator=gen).tolist()
    return given((torch.rand(leaves + 1, generator=gen).tolist(), picks))


def walk(node, met, again=False, back=False, first=False, after=False):
    """Nodes by recursion; what comes after `met` is as people get it wrong."""
    if node is None or (node in met and not again):
        return
    if not after:
        met.append(node)
    before = [operand for operand, _ in node.next_functions]
    for operand in before[:1] if first else before[::-1] if back else before:
        walk(operand, met, again, back, first, after)
    if after and (again or node not in met):
        met.append(node)


def in_depth(y, **how):
    met = []
    walk(y.grad_fn, met, **how)
    return met


def in_breadth(y):
    met = [y.grad_fn]
    for node in met:
        met += dict.fromkeys(n for n, _ in node.next_functions if n is not None and n not in met)
    return met


def named(program, nodes=in_depth, called=lambda node: type(node).__name__, all_of_them=False):
    found = nodes(grown(program))
    return [called(node) for node in found if all_of_them or not hasattr(node, "variable")]


def held(program, nodes=in_depth, of=lambda node: node.variable):
    return [of(node).detach() for node in nodes(grown(program)) if hasattr(node, "variable")]


ORDERS = {
    "a node that is used twice is listed twice": partial(in_depth, again=True),
    "the last operand is followed first": partial(in_depth, back=True),
    "only the first operand is followed": partial(in_depth, first=True),
    "a node comes after its operands: it comes before them": partial(in_depth, after=True),
    "it is a walk breadth first: all that the first operand leads to comes before the second": in_breadth,
}


def inputs(gen):
    return {
        "one leaf": drawn(gen, 1, 6),
        "two leaves": drawn(gen, 2, 9),
        "four leaves": drawn(gen, 4, 14),
    }


operations = Contract(
    "operations(y)",
    reference=named,
    use=lambda answer, program: answer.operations(grown(program)),
    inputs=inputs,
    widens=False,
    suspects={
        "AccumulateGrad is listed: it stands for a leaf": partial(named, all_of_them=True),
        "the names are cut: a node's type is called SubBackward0, say": partial(
            named, called=lambda node: type(node).__name__.removesuffix("Backward0")
        ),
        **{told: partial(named, nodes=nodes) for told, nodes in ORDERS.items()},
    },
)
leaves = Contract(
    "leaves(y)",
    reference=held,
    use=lambda answer, program: [leaf.detach() for leaf in answer.leaves(grown(program))],
    inputs=inputs,
    widens=False,
    suspects={told: partial(held, nodes=nodes) for told, nodes in ORDERS.items()},
)


def doubled(times):
    """A sum with itself, so many times: 2 ** times ways lead to the leaf."""
    y = leaf = torch.tensor(0.5, requires_grad=True)
    for _ in range(times):
        y = y + y
    return y, leaf


def test_ways_do_not_count(answer):
    """The work grows with the nodes, not with the number of ways to them."""
    for name in ("operations", "leaves"):
        look, few, many = getattr(answer, name), doubled(6)[0], doubled(12)[0]
        steps, more = count_steps(lambda look=look, y=few: look(y)), count_steps(lambda: look(many))  # noqa: B023
        expect_that(
            more < 6 * steps + 200,
            f"{name}(y) walks every way to a node",
            yours=f"{steps} steps of Python for 6 sums of a number with itself, {more} for 12",
            wanted="about twice as many for twice the nodes",
            likely="whether a node was met before is to be asked before its operands are followed",
        )


def test_the_leaves_themselves(answer):
    """The leaves are the tensors of whoever made y: parameters of a model, for example."""
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
    model[0].bias.requires_grad_(False)
    yours = list(answer.leaves(model(torch.ones(4, 3)).sum()))
    wanted = {name: p for name, p in model.named_parameters() if p.requires_grad}
    lost = [name for name, p in wanted.items() if not any(found is p for found in yours)]
    expect_that(not lost, f"leaves(y) does not hold the model's own {', '.join(lost)}", yours=yours)
    expect_equal(len(yours), len(wanted), "the number of leaves(y), the first bias frozen")


@pytest.mark.fine
def test_without_operations(answer):
    """A leaf that requires a gradient is its own leaf; a constant has neither operations nor leaves."""
    leaf, constant = torch.ones(2, requires_grad=True), torch.ones(2)
    with torch.no_grad():
        unrecorded = leaf * 2
    for y, wanted, told in [
        (leaf, [leaf], "a leaf that requires a gradient"),
        (constant, [], "a constant"),
        (unrecorded, [], "computed under no_grad"),
    ]:
        expect_equal(answer.operations(y), [], f"operations(y), where y is {told},")
        yours = list(answer.leaves(y))
        right = len(yours) == len(wanted) and all(a is b for a, b in zip(yours, wanted, strict=True))
        expect_that(right, f"wrong leaves(y), where y is {told}", yours=yours, wanted=wanted)


@pytest.mark.fine
def test_long_chains(answer):
    """A chain of 10 000 operations is walked to its end."""
    y = leaf = torch.tensor(0.5, requires_grad=True)
    for _ in range(10_000):
        y = y + 1.0
    names = answer.operations(y)
    expect_equal(len(names), 10_000, "the number of operations(y), a chain of 10 000 operations")
    told = "leaves(y) does not hold the leaf behind 10 000 operations"
    expect_that([found is leaf for found in answer.leaves(y)] == [True], told)


@pytest.mark.fine
def test_only_looks(answer):
    """No `.grad` changes, and backward works afterwards."""
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    w.grad = torch.tensor([7.0, 8.0])
    y = (w * w).sum()
    answer.operations(y)
    answer.leaves(y)
    expect_equal(w.grad, torch.tensor([7.0, 8.0]), "w.grad after operations(y) and leaves(y)")
    y.backward()
    expect_gradient(w.grad, torch.tensor([11.0, 14.0]), "w by y.backward() after operations(y) and leaves(y)")
