"""What grades low_rank_adapter: values, the start, merging, the adapters' state; dtypes, devices."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.contract import Contract, device, gradients, layer, untouched

PARTS = ("linear", "lora_a", "lora_b")


def adapted(state, x, rank, alpha=16.0, scale=lambda alpha, rank: alpha / rank, bias=1.0):
    linear, a, b = (state[f"{part}.weight"] for part in PARTS)
    return x @ (linear + scale(alpha, rank) * b @ a).mT + bias * state.get("linear.bias", 0.0)


def numbers(gen, inputs, outputs, rank, bias=True):
    sizes = {"linear": (outputs, inputs), "lora_a": (rank, inputs), "lora_b": (outputs, rank)}
    state = {f"{part}.weight": torch.randn(size, generator=gen) for part, size in sizes.items()}
    return state | ({"linear.bias": torch.randn(outputs, generator=gen)} if bias else {})


def call(gen, *shape, outputs=3, rank=2, bias=True, **options):
    """A call of a layer that has loaded these numbers."""
    state, base = numbers(gen, shape[-1], outputs, rank, bias), nn.Linear(shape[-1], outputs, bias)
    return layer(base, rank, **options, state=state)(torch.randn(shape, generator=gen))


contract = Contract(
    "LoRALinear(linear, rank, alpha)(x)",
    reference=adapted,
    inputs=lambda gen: {
        "rows": call(gen, 5, 4, alpha=3.0),
        "as many outputs as inputs": call(gen, 3, 4, outputs=4, rank=3, bias=False, alpha=1.0),
        "sequences, alpha=16": call(gen, 2, 3, 6, outputs=5, rank=4),
        "a row, rank 1": call(gen, 4, rank=1, alpha=0.5),
    },
    gradient="lora_a.weight lora_b.weight",
    ulps=100,
    scale=30.0,
    suspects={
        "the update is not scaled: alpha / rank stands in front": partial(
            adapted, scale=lambda alpha, rank: 1.0
        ),
        "the update is scaled by alpha: it is alpha / rank": partial(
            adapted, scale=lambda alpha, rank: alpha
        ),
        "the update alone came back": lambda state, x, rank, alpha=16.0: adapted(
            state | {"linear.weight": 0 * state["linear.weight"]}, x, rank, alpha, bias=0.0
        ),
        "the bias of linear is left out": partial(adapted, bias=0.0),
    },
    fine=[
        gradients("x", name="gradient_of_x", title="Gradients flow to x as well."),
        untouched(),
        device(),
    ],
)


@pytest.fixture
def made(answer, gen):
    """One that has been trained for a while."""
    found = answer.LoRALinear(nn.Linear(4, 3), 2, 3.0)
    found.load_state_dict(numbers(gen, 4, 3, 2))
    return found


def expect_same(yours, wanted, call, **suspects):
    """Compare what has been added and taken off again, which is rounded."""
    told = {words.replace("_", " "): lambda made=made: made for words, made in suspects.items()}
    expect_close(yours.detach(), wanted, call, scale=30, suspects=told)


def test_start(answer, gen):
    """A new layer computes what linear does, and can learn: lora_a is random, lora_b is 0."""
    base, x = nn.Linear(4, 3), torch.randn(5, 4, generator=gen)
    wanted = base(x).detach()
    found = answer.LoRALinear(base, 2)
    a, b = found.lora_a.weight.detach(), found.lora_b.weight.detach()
    expect_that(not b.any(), "lora_b.weight is not 0 at first: the update is to begin at 0", yours=b)
    expect_that(bool(a.any()), "lora_a.weight is 0 at first: then neither of the two learns", yours=a)
    expect_close(found(x).detach(), wanted, "a new LoRALinear(linear, 2)(x)")


def test_trained(answer):
    """Only lora_a and lora_b train."""
    found = answer.LoRALinear(nn.Linear(4, 3), 2)
    wanted = {"lora_a.weight", "lora_b.weight"}
    trained = {name for name, p in found.named_parameters() if p.requires_grad}
    more, less = " and ".join(sorted(trained - wanted)), " and ".join(sorted(wanted - trained))
    expect_that(not more, f"linear is to be frozen, and there is a gradient for {more}")
    expect_that(not less, f"no gradient is required for {less}")


def test_merge(made, gen):
    """merge() puts the update into linear.weight, unmerge() takes it off, and y stays the same."""
    x, weight = torch.randn(5, 4, generator=gen), made.linear.weight.detach().clone()
    update = 1.5 * made.lora_b.weight.detach() @ made.lora_a.weight.detach()
    before = made(x).detach()
    made.merge()
    expect_same(made.linear.weight, weight + update, "linear.weight after merge()")
    expect_same(made(x), before, "layer(x) after merge()", the_update_counts_twice=before + x @ update.T)
    made.unmerge()
    expect_same(
        made.linear.weight,
        weight,
        "linear.weight after merge() and unmerge()",
        unmerge_adds_the_update_once_more=weight + 2 * update,
    )
    expect_same(made(x), before, "layer(x) after merge() and unmerge()")


def test_merge_twice(made, gen):
    """Merging what is merged does nothing, and neither does unmerging what is not."""
    x = torch.randn(5, 4, generator=gen)
    update = 1.5 * x @ (made.lora_b.weight @ made.lora_a.weight).detach().T
    before = made(x).detach()
    for name in ("unmerge", "merge", "merge", "unmerge", "unmerge"):
        getattr(made, name)()
        expect_same(
            made(x),
            before,
            f"layer(x) after {name}() once more",
            the_update_is_added_once_more=before + update,
            the_update_is_taken_off_once_more=before - update,
        )


def test_adapter_state(answer):
    """adapter_state(model) holds the weights of all adapters, named as in the model, and no others."""
    first, last = (answer.LoRALinear(nn.Linear(*size), 2) for size in ((4, 6), (6, 3)))
    model = nn.Sequential(first, nn.ReLU(), nn.Linear(6, 6), last)
    yours, state = answer.adapter_state(model), model.state_dict()
    wanted = {f"{n}.lora_{part}.weight" for n in (0, 3) for part in "ab"}
    unknown, more = sorted(set(yours) - set(state)), sorted(set(yours) - wanted)
    less = sorted(wanted - set(yours))
    what = "adapter_state(model) has names that model.state_dict() has not"
    expect_that(not unknown, what, yours=", ".join(unknown))
    expect_that(not more, "adapter_state(model) holds what is no adapter's", yours=", ".join(more))
    expect_that(not less, "adapter_state(model) does not hold all adapters", missing=", ".join(less))
    for name in wanted:
        expect_equal(yours[name].detach(), state[name], f"adapter_state(model)[{name!r}]")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_like_linear(answer, device, dtype):
    """lora_a and lora_b have the dtype and the device of linear.weight."""
    found = answer.LoRALinear(nn.Linear(4, 3).to(device, dtype), 2)
    for part in ("lora_a", "lora_b"):
        weight = getattr(found, part).weight
        expect_equal((weight.dtype, weight.device), (dtype, device), f"dtype and device of {part}.weight")


@pytest.mark.fine
def test_same_parameter(made):
    """After merge() and unmerge() linear.weight is the same parameter, and does not train."""
    weight = made.linear.weight
    for name in ("merge", "unmerge"):
        getattr(made, name)()
        expect_that(made.linear.weight is weight, f"after {name}() linear.weight is another parameter")
        expect_that(not weight.requires_grad, f"after {name}() linear.weight requires a gradient")


@pytest.mark.fine
def test_trained_further(made, gen):
    """What trained after unmerge() counts in the next merge()."""
    x = torch.randn(5, 4, generator=gen)
    made.merge()
    made.unmerge()
    with torch.no_grad():
        made.lora_b.weight.mul_(-2.0)
    before = made(x).detach()
    made.merge()
    expect_same(made(x), before, "layer(x) after unmerge(), training and merge()")


def oracle(answer, gen):
    def trained(gen):
        found = answer.LoRALinear(nn.Linear(4, 3), 2, 3.0)
        found.load_state_dict(numbers(gen, 4, 3, 2))
        return found, torch.randn(5, 4, generator=gen)

    def calls(*names):
        def case(gen):
            found, x = trained(gen)
            for name in names:
                getattr(found, name)()
            return [found(x).detach(), found.linear(x).detach()]

        return case

    def state(gen):
        return {name: t.detach() for name, t in answer.adapter_state(trained(gen)[0]).items()}

    def gradient(gen):
        found, x = trained(gen)
        found(x).square().sum().backward()
        return [found.lora_a.weight.grad, found.lora_b.weight.grad]

    return {
        "a call": calls(),
        "merged": calls("merge"),
        "merged twice": calls("merge", "merge"),
        "merged and unmerged": calls("merge", "unmerge"),
        "the adapters' state": state,
        "the gradients": gradient,
    }
