"""Contracts of layers and of steps of training, and what an answer reads that does not keep them."""

from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import nn

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    errors,
    flat_cost,
    given,
    hooks,
    layer,
    loads,
    modes,
    registered,
    runs,
    untouched,
    values,
)
from grader.checks.contract.call import Signature, cases
from grader.checks.contract.given import copied, widened
from grader.checks.contract.oracle import oracle_of
from tests.grader.checks.test_contract import judge


class Counts(nn.Module):
    """x · weight, or x / count in evaluation mode; counts its calls in training."""

    def __init__(self, features, start=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.full((features,), start))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        if self.training:
            self.count += 1
            return x * self.weight
        return x / self.count


def counted(state, x, training):
    if training:
        state["count"] = state["count"] + 1
        return x * state["weight"]
    return x / state["count"]


def drawn(gen):
    state = {"weight": torch.randn(3, generator=gen), "count": torch.tensor(4.0)}
    built, x = layer(3, start=2.0, state=state), torch.randn(2, 3, generator=gen)
    return {"two rows": built(x), "two rows to predict for": built.eval()(x)}


def contract(**more):
    return Contract("Counts(features)(x)", reference=counted, inputs=drawn, **{"after": "count", **more})


def broken(**changed):
    """A layer with other methods."""
    return type("Counts", (Counts,), changed)


def test_calls_are_told_as_they_are_written():
    signature, x = Signature.of("Counts(features)(x)"), torch.ones(2)
    assert signature.text(layer(2, start=0.5)(x)) == "Counts(2, start=0.5)(x)"
    assert signature.text(layer(2).eval()(x, eps=1.0)) == "Counts(2).eval()(x, eps=1.0)"
    assert signature.text(layer(2)()) == "Counts(2)"
    assert [case.about for case in cases([layer(2), layer(2)(x)])] == ["", "shape (2,)"]


def test_a_layer_that_keeps_its_contract():
    kept = contract(
        gradient="x weight",
        job=[registered(buffers="count"), loads(), flat_cost(lambda n: layer(n)(torch.ones(2, n)), over="n")],
        fine=[dtypes(torch.float64, torch.bfloat16), untouched(), device()],
    )
    assert not any(judge(kept, Counts=Counts).values())


def plain(self, features, start=1.0):
    nn.Module.__init__(self)
    self.weight, self.count = torch.full((features,), start), torch.zeros(())


class KeepsIts(Counts):
    """Keeps the weight of its first call."""

    def forward(self, x):
        if not hasattr(self, "kept"):
            self.kept = self.weight.detach().clone()
        return super().forward(x) * 0 + x * self.kept


class Loops(Counts):
    def forward(self, x):
        return torch.stack([super(Loops, self).forward(row) for row in x]) if x.dim() > 1 else x


def many(n):
    return layer(3)(torch.ones(n, 3))


@pytest.mark.parametrize(
    ("clause", "answer", "words"),
    [
        (values(), broken(__init__=plain), "Counts(3, start=2.0) has no parameter or buffer named 'weight'"),
        (values(), broken(forward=lambda self, x: x * self.weight), "wrong values from count after Counts(3"),
        (values(after=""), broken(forward=lambda self, x: x * self.weight), "Counts(3, start=2.0).eval()(x)"),
        (registered(), Counts, "wrong parameters of Counts(3, start=2.0)"),
        (loads(), KeepsIts, "after load_state_dict(…)"),
        (device(), broken(forward=lambda self, x: x.cpu() * self.weight.cpu()), "wrong device"),
        (dtypes(torch.float64), broken(forward=lambda self, x: x.float()), "in torch.float64"),
        (untouched(), broken(forward=lambda self, x: x.mul_(1 if torch.is_grad_enabled() else 2)), "no_grad"),
        (errors(ValueError, lambda gen: [layer(-1)]), Counts, "wrong error from Counts(-1)"),
        (flat_cost({"features": lambda n: layer(n)(torch.ones(n)), "rows": many}), Loops, "grows with rows"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_clause_that_is_not_kept(clause, answer, words):
    assert words in judge(contract(job=[clause]), Counts=answer)[f"test_{clause.name}"]


def test_a_layer_without_a_state_has_what_it_starts_with():
    told, x = "Counts(features)(x)", torch.tensor([[1.0, 3.0]])
    example = Contract(told, reference=counted, example=(layer(2)(x), [[1.0, 3.0]]))
    assert not judge(example, Counts=Counts)["test_worked_example"]
    starts = Contract(told, reference=counted, inputs=lambda gen: [layer(2, start=5.0)(x)])
    assert not judge(starts, Counts=Counts)["test_values"]
    assert "no parameter or buffer" in judge(starts, Counts=broken(__init__=plain))["test_values"]


def test_the_oracle_of_a_layer():
    found = oracle_of([contract(gradient="weight")])(
        type("Answer", (), {"Counts": Counts}), torch.Generator()
    )
    assert list(found) == [
        "two rows",
        "two rows: count afterwards",
        "two rows to predict for",
        "two rows to predict for: count afterwards",
        "the gradient",
    ]
    assert found["two rows"]().shape == found["two rows to predict for"]().shape == (2, 3)
    assert found["two rows: count afterwards"]() == {"count": torch.tensor(5.0)}
    assert found["the gradient"]().shape == (3,)


def loop(model, loss_fn, optimizer, x, target, clear=True, times=1):
    for p in model.parameters() if clear else ():
        p.grad = None
    loss = loss_fn(model(x), target)
    loss.backward()
    for _ in range(times):
        optimizer.step()
    return loss.item()


def start(gen):
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)).double()
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, target = (torch.randn(4, n, generator=gen).double() for n in (3, 1))
    return {"a batch of four": given(model, nn.functional.mse_loss, optimizer, x, target)}


def steps(**more):
    return Contract(
        "step(model, loss_fn, optimizer, x, target)",
        reference=loop,
        inputs=start,
        **{"after": "model", **more},
        suspects={"two steps are taken": lambda *given: loop(*given, times=2)},
    )


def past_hooks(model, *more):
    class Called:
        parameters = model.parameters
        __call__ = staticmethod(model.forward)

    return loop(Called(), *more)


def in_evaluation_mode(model, *more):
    model.eval()
    return loop(model, *more)


@pytest.mark.parametrize(
    ("clause", "answer", "words"),
    [
        (values(), lambda *given: loop(*given, times=2), "likely  two steps are taken"),
        (values(), lambda *given: loop(*given, times=0), "0.weight after step(model, loss_fn, optimizer, x"),
        (values(), lambda *given: loop(*given) + 1, "wrong step(model, loss_fn, optimizer, x, target) of a"),
        (values(after="model.grad"), lambda *given: (loop(*given), given[2].zero_grad())[0], "is None"),
        (values(after="model.grad"), lambda *given: loop(*given, clear=False), "the gradient of 0.weight"),
        (modes(), in_evaluation_mode, "wrong training flag of the model itself"),
        (hooks(), past_hooks, "a hook on the model does not run"),
        (runs(model=1, loss_fn=1, optimizer=1), lambda *given: loop(*given, times=0), "optimizer.step runs"),
        (runs(model=1), lambda model, loss, o, x, t: (model(x), loop(model, loss, o, x, t))[1], "runs twice"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_clause_about_steps_that_is_not_kept(clause, answer, words):
    told = judge(steps(job=[clause]), step=answer)[f"test_{clause.name}"]
    assert told and words in told
    assert not judge(steps(job=[clause]), step=loop)[f"test_{clause.name}"]


def test_copies_belong_together():
    (one,) = start(torch.Generator()).values()
    for change in (copied, widened):
        model, _, optimizer, *_ = change(one).args
        assert optimizer.param_groups[0]["params"][0] is model[0].weight
        assert model[0].weight is not one.args[0][0].weight
        assert torch.equal(model[0].weight.grad, one.args[0][0].weight.grad)
    alone = nn.Parameter(torch.ones(2))
    alone.grad = torch.ones(2)
    (twin,) = widened(given(alone)).args
    assert isinstance(twin, nn.Parameter) and twin.dtype == twin.grad.dtype == torch.float64


def test_what_is_changed_in_place():
    grown = Contract("grow_(x)", reference=lambda x: x.add_(1), after="x", inputs=lambda gen: [torch.ones(2)])
    assert not judge(grown, grow_=lambda x: x.add_(1))["test_values"]
    assert "wrong values from x after grow_(x)" in judge(grown, grow_=lambda x: x + 1)["test_values"]


def test_a_context_manager_is_called_by_use():
    @contextmanager
    def doubled(model, times=2):
        handle = model.register_forward_hook(lambda m, args, out: times * out)
        yield handle
        handle.remove()

    def inside(answer, model, x):
        with answer.doubled(model) as handle:
            return model(x), handle.id in model._forward_hooks

    model, x = nn.Linear(2, 1), torch.ones(2)
    kept = Contract(
        "doubled(model)",
        reference=lambda model, x: (2 * model(x), True),
        use=inside,
        inputs=lambda gen: [(model, x)],
    )
    assert not judge(kept, doubled=doubled)["test_values"]
    told = judge(kept, doubled=partial(doubled, times=3))["test_values"]
    assert "wrong values from doubled(model, argument1)[0]" in told


def test_what_a_layer_is_built_of_stays():
    class Wraps(nn.Module):
        def __init__(self, base):
            super().__init__()
            self.base = base.requires_grad_(False)

        def forward(self, x):
            return self.base(x) + 0 * self.base.weight.sum()

    base = nn.Linear(2, 1, bias=False)
    call = layer(base, state={"base.weight": torch.tensor([[1.0, 2.0]])})(torch.tensor([3.0, 4.0]))
    wraps = Contract(
        "Wraps(base)(x)", reference=lambda state, x: x @ state["base.weight"].T, inputs=lambda gen: [call]
    )
    before = base.weight.detach().clone()
    assert not judge(wraps, Wraps=Wraps)["test_values"]
    assert base.weight.requires_grad and torch.equal(base.weight, before)


def test_a_reference_in_the_dtypes_of_the_call():
    def bits(x):
        return x.element_size() * 8

    narrow = Contract("bits(x)", reference=bits, inputs=lambda gen: [torch.ones(2)])
    assert "wanted  int 64" in judge(narrow, bits=bits)["test_values"]
    assert not judge(replace(narrow, widens=False), bits=bits)["test_values"]


def test_use_of_a_layer_gets_gradients():
    squared = contract(use=lambda forward, x: forward(x).square(), after="", gradient="x weight")
    squared = replace(squared, reference=lambda state, x, training: counted(state, x, training).square())
    assert not any(judge(squared, Counts=Counts).values())
    told = judge(squared, Counts=broken(forward=lambda self, x: x * self.weight.detach()))["test_gradients"]
    assert "no gradient" in told
