"""What grades tied_embedding: gradients of both uses, growing; sizes, dtype, device, frozen weights."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_gradient, expect_raises, expect_that
from grader.checks.contract import Contract, layer


def scored(state, ids, size=0, head=None, row=lambda old: old.mean(0), bend=torch.relu):
    """Logits, after growing to `size` tokens; what comes after `size` is as people get it wrong."""
    rows = state["embed.weight"]
    new = row(rows).expand(max(0, size - len(rows)), -1)
    rows = torch.cat([rows, new])
    hidden = bend(rows[ids] @ state["body.weight"].mT + state["body.bias"])
    return hidden @ (head(state, new) if head else rows).mT


def call(gen, vocab, dim, *shape, added=None, first=0):
    """A call of a model with these numbers, or one that grows before it."""
    rows = torch.randn(vocab, dim, generator=gen)
    state = {
        "embed.weight": rows,
        "head.weight": rows.clone(),
        "body.weight": torch.randn(dim, dim, generator=gen),
        "body.bias": torch.randn(dim, generator=gen),
    }
    ids = torch.randint(first, vocab + (added or 0), shape, generator=gen)
    return layer(vocab, dim, state=state)(ids, *([] if added is None else [vocab + added]))


tied = Contract(
    "TiedModel(vocab, dim)(ids)",
    reference=scored,
    inputs=lambda gen: {
        "a text": call(gen, 7, 4, 6),
        "texts": call(gen, 5, 3, 2, 4),
        "as many tokens as features": call(gen, 4, 4, 3),
    },
    gradient="embed.weight body.weight",
    ulps=100,
    scale=10.0,
    suspects={"the activation is left out": partial(scored, bend=lambda hidden: hidden)},
)
grown = Contract(
    "TiedModel(vocab, dim)(ids, size)",
    reference=scored,
    use=lambda model, ids, size: (model.grow(size), model(ids))[1],
    inputs=lambda gen: {
        "one token more": call(gen, 7, 4, 6, added=1),
        "five tokens more": call(gen, 4, 3, 2, 4, added=5),
        "new tokens alone": call(gen, 6, 5, 7, added=3, first=6),
    },
    ulps=100,
    scale=10.0,
    suspects={
        "new rows are 0: they are the mean of the old ones": partial(scored, row=lambda old: 0 * old[0]),
        "new rows are the sum of the old ones": partial(scored, row=lambda old: old.sum(0)),
        "new rows are a copy of the last one": partial(scored, row=lambda old: old[-1]),
        "the head does not score new tokens by the rows that embed has": partial(
            scored, head=lambda state, new: torch.cat([state["head.weight"], 0 * new])
        ),
    },
)


@pytest.fixture
def model(answer, gen):
    found = answer.TiedModel(5, 3)
    with torch.no_grad():
        for p in found.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return found


def test_parameters(model):
    """The optimizer finds the shared weight once, before and after grow."""
    wanted = {"embed.weight", "body.weight", "body.bias"}
    for when in ("of a new model", "after model.grow(8)"):
        expect_that(model.head.weight is model.embed.weight, f"the two weights are not one parameter {when}")
        names = {name for name, _ in model.named_parameters()}
        expect_equal(names - {"head.weight"} | {"embed.weight"}, wanted, f"the parameters {when}")
        expect_equal(len(list(model.parameters())), 3, f"the number of parameters {when}")
        model.grow(8)


def test_old_rows_are_kept(model):
    """grow keeps the rows that were there, and adds their mean."""
    before = model.embed.weight.detach().clone()
    model.grow(8)
    expect_equal(model.embed.weight.detach()[:5], before, "the old rows after model.grow(8)")
    expect_close(model.embed.weight.detach()[5:], before.mean(0).expand(3, -1), "the new rows", ulps=16)


def test_learns_after_growing(model):
    """After grow both uses give gradients to the one weight, new rows included."""
    model.grow(8)
    weight = model.embed.weight.detach().clone().double().requires_grad_()
    body = {f"body.{name}": p.detach().double() for name, p in model.body.named_parameters()}
    ids = torch.tensor([6, 0, 7])
    scored({"embed.weight": weight} | body, ids).square().sum().backward()
    model(ids).square().sum().backward()
    told = "embed.weight is no leaf after model.grow(8): it is to be a new nn.Parameter, without a graph"
    expect_that(model.embed.weight.is_leaf and isinstance(model.embed.weight, nn.Parameter), told)
    expect_gradient(model.embed.weight.grad, weight.grad.float(), "a loss for embed.weight", scale=1e3)


@pytest.mark.fine
def test_sizes_follow(model):
    """embed.num_embeddings and head.out_features are the new size."""
    model.grow(8)
    found = {"embed.num_embeddings": model.embed.num_embeddings, "head.out_features": model.head.out_features}
    expect_equal(found, dict.fromkeys(found, 8), "the sizes of the layers after model.grow(8)")


@pytest.mark.fine
@pytest.mark.parametrize("trains", [True, False], ids=["training", "frozen"])
def test_like_before(model, device, trains):
    """Grown, the weight has the dtype and device it had, and requires a gradient if it did."""
    model.to(device, torch.bfloat16).embed.weight.requires_grad_(trains)
    model.grow(8)
    weight = model.embed.weight
    found = (weight.dtype, weight.device, weight.requires_grad)
    wanted = (torch.bfloat16, device, trains)
    expect_equal(found, wanted, "dtype, device and requires_grad of embed.weight after model.grow(8)")


@pytest.mark.fine
def test_same_size(model):
    """Growing to the same size changes nothing: the parameter is the same one."""
    weight = model.embed.weight
    before = weight.detach().clone()
    model.grow(5)
    expect_equal(model.embed.weight.detach(), before, "embed.weight of 5 tokens after model.grow(5)")
    same = model.embed.weight is weight and model.head.weight is weight
    expect_that(same, "after model.grow(5) a model of 5 tokens has another parameter")


@pytest.mark.fine
@pytest.mark.parametrize("size", [4, 0])
def test_smaller(model, size):
    """Growing to fewer tokens raises ValueError."""
    expect_raises(ValueError, lambda: model.grow(size), f"grow({size}) of a model with 5 tokens")
