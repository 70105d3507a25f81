"""What grades parameter_groups: what a step decays, each parameter once; frozen ones, order, whole names."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, given, values
from grader.checks.registered import randomize

CALL = "parameter_groups(model, weight_decay)"
RATE = 0.5


class Net(nn.Module):
    """Layers of many kinds, two parameters of its own, and a matrix that two layers share."""

    def __init__(self, width, shared=True):
        super().__init__()
        self.embedding = nn.Embedding(5, width)
        self.embedding_norm = nn.LayerNorm(width)
        self.body = nn.Sequential(nn.Linear(width, 4), nn.BatchNorm1d(4), nn.Linear(4, width))
        self.conv = nn.Conv1d(3, 2, 2)
        self.scale = nn.Parameter(torch.ones(width))
        self.position = nn.Parameter(torch.ones(2, width))
        self.head = nn.Linear(width, 5)
        if shared:
            self.head.weight = self.embedding.weight


def matrix(name, p):
    return p.dim() >= 2


def inside(name, parts):
    return any(f"{name}.".startswith(f"{part}.") for part in parts)


def left(model, weight_decay, skip=(), rule=matrix, skipped=inside, twice=False):
    """What such a step leaves of each parameter; or with a mistake."""
    shared = [id(p) for _, p in model.named_parameters(remove_duplicate=False)]
    parts = []
    for name, p in model.named_parameters():
        times = shared.count(id(p)) if twice else 1
        decays = rule(name, p) and not skipped(name, skip)
        parts.append((1 - RATE * weight_decay) ** times if decays else 1.0)
    return torch.tensor(parts)


def wrong(**how):
    return partial(left, **how)


def step(answer, model, weight_decay, *skip):
    """Take a step whose gradients are zero with the answer's groups: what is left of each parameter."""
    groups = answer.parameter_groups(model, weight_decay, *skip)
    before = [p.detach().clone() for p in model.parameters()]
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    torch.optim.SGD(groups, lr=RATE).step()
    return torch.stack([(p.detach() / old).mean() for p, old in zip(model.parameters(), before, strict=True)])


def net(gen, *skip, shared=True):
    width = 3 + int(torch.randint(0, 4, (), generator=gen))
    model = Net(width, shared)
    randomize(model, gen)
    return given(model, 0.25 + 0.5 * torch.rand((), generator=gen).item(), *skip)


contract = Contract(
    "parameter_groups(model, weight_decay, skip)",
    reference=left,
    use=step,
    inputs=lambda gen: {
        "layers of many kinds": net(gen, shared=False),
        "a matrix that two layers share": net(gen),
        "skip=['head.weight', 'position']": net(gen, ["head.weight", "position"], shared=False),
        "skip=['body', 'position']": net(gen, ["body", "position"]),
    },
    dims="parameter",
    widens=False,
    ulps=16,
    suspects={
        "everything decays: parameters of one dimension are not to": wrong(rule=lambda name, p: True),
        "nothing decays": wrong(rule=lambda name, p: False),
        "vectors decay, and matrices do not: the groups are swapped": wrong(rule=lambda name, p: p.dim() < 2),
        "what is not called bias decays: the weight of a norm is a vector as well": wrong(
            rule=lambda name, p: "bias" not in name
        ),
        "matrices alone decay: the weight of a convolution has three dimensions": wrong(
            rule=lambda name, p: p.dim() == 2
        ),
        "only the weights of nn.Linear decay: what counts are the dimensions": wrong(
            rule=lambda name, p: name in ("body.0.weight", "body.2.weight", "head.weight")
        ),
        "a parameter that two layers share is in the group twice": wrong(twice=True),
        "skip is ignored": wrong(skipped=lambda name, parts: False),
        "skip names a module here: all that is in it is skipped": wrong(
            skipped=lambda name, parts: name in parts
        ),
        "a part of a name is taken for the name": wrong(
            skipped=lambda name, parts: any(part in name for part in parts)
        ),
    },
    job=[values(title="In a step without gradients the matrices shrink, and all else stays.")],
    fine=[
        values(
            inputs=lambda gen: {
                "skip=['embedding', 'bo']": net(gen, ["embedding", "bo"], shared=False),
                "skip=['0', 'position']": net(gen, ["0", "position"], shared=False),
            },
            name="whole_names",
            title='A name in skip counts whole, and from the start: "embedding" is not "embedding_norm".',
        )
    ],
)


def listed(answer, model, *args):
    """The names of the parameters in each group."""
    names = {id(p): name for name, p in model.named_parameters()}
    groups = answer.parameter_groups(model, *args)
    return [[names.get(id(p), "no parameter of the model") for p in group["params"]] for group in groups]


@pytest.mark.parametrize("shared", [False, True])
def test_each_once(answer, shared):
    """Each parameter of the model is in one group, once."""
    model = Net(3, shared)
    found = [name for names in listed(answer, model, 0.1) for name in names]
    wanted = [name for name, _ in model.named_parameters()]
    missing = sorted(set(wanted) - set(found))
    twice = sorted({name for name in found if found.count(name) > 1})
    expect_that(not missing, f"{CALL} leaves parameters out", missing=", ".join(missing))
    expect_that(not twice, f"{CALL} has a parameter more than once", twice=", ".join(twice))
    expect_equal(sorted(found), sorted(wanted), f"the parameters of both groups of {CALL}")


@pytest.mark.fine
def test_frozen(answer):
    """A parameter that requires no gradient is in neither group."""
    model = Net(3)
    model.body.requires_grad_(False)
    found = sorted(name for names in listed(answer, model, 0.1) for name in names if name.startswith("body"))
    expect_that(not found, f"{CALL} holds frozen parameters", yours=", ".join(found))


@pytest.mark.fine
def test_order(answer):
    """Each group keeps the order of model.parameters()."""
    model = Net(3)
    order = [name for name, _ in model.named_parameters()]
    for names in listed(answer, model, 0.1):
        expect_equal(names, sorted(names, key=order.index), f"the order in a group of {CALL}")


@pytest.mark.fine
@pytest.mark.parametrize(
    ("model", "count"),
    [(nn.LayerNorm(4), [0, 2]), (nn.Linear(3, 2, bias=False), [1, 0])],
    ids=["norm", "linear"],
)
def test_both_groups(answer, model, count):
    """There are two groups, also where all parameters or none decay."""
    groups = answer.parameter_groups(model, 0.1)
    found = [len(list(group["params"])) for group in groups]
    expect_equal(found, count, f"the number of parameters in each group for {type(model).__name__}")
    expect_equal([group["weight_decay"] for group in groups], [0.1, 0.0], "the groups' weight_decay")
