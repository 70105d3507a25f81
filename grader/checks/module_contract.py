"""What people do with a module: move, cast, save, copy and train it, and give it other parameters.

Each check builds fresh modules from a `Case` and compares with a reference that computes from named
tensors, so that it sees which registered tensor is really used.
"""

import copy
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from grader.checks._compat import tree_leaves, tree_map_only
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host
from grader.checks.failure import CheckFailure
from grader.checks.gradients import expect_gradients
from grader.checks.registered import randomize, state_of, tensors_of
from grader.checks.values import expect_close, expect_equal, expect_that

__all__ = [
    "Case",
    "expect_casts",
    "expect_copies",
    "expect_functional",
    "expect_loads",
    "expect_moves",
    "expect_trains",
]

State = Mapping[str, Tensor]


@dataclass(frozen=True)
class Case:
    """A module to judge, and what it computes.

    Attributes:
        make: builds a fresh module on the CPU in float32.
        inputs: the arguments of one call.
        reference: what the call returns, a tensor or a dict of tensors, from the parameters and buffers
            by name and the inputs, in any dtype.
        call: the module as a learner would build it: ``"Linear(4, 3)"``.

    Example:
        def case(answer):
            x = torch.ones(2, 3)
            return Case(lambda: answer.Scale(3), [x], lambda state, x: x * state["weight"], "Scale(3)")


        def test_reference(answer):
            layer, scale = answer.Scale(3), case(answer)
            expect_close(layer(*scale.inputs), scale.wanted(state_of(layer)), "Scale(3)(x)")
    """

    make: Callable[[], nn.Module]
    inputs: Sequence[Tensor]
    reference: Callable[..., Any]
    call: str

    def wanted(self, state: State) -> Any:
        """What the module should return with these tensors, in their dtype; computed in float64."""
        dtype = next((t.dtype for t in state.values() if t.is_floating_point()), torch.float32)
        exact = {name: _double(t) for name, t in state.items()}
        try:
            result = self.reference(exact, *map(_double, self.inputs))
        except KeyError as missing:
            raise CheckFailure(
                f"{self.call} has no parameter or buffer named {missing}",
                yours=", ".join(state) or "none at all",
                likely="a plain attribute, or one in a list: a module only knows what is registered",
            ) from None
        return tree_map_only(Tensor, lambda t: t.to(dtype), result)


def expect_moves(case: Case, device: torch.device, gen: torch.Generator) -> None:
    """Fail unless a model that contains the module moves with all of its tensors, and computes there.

    Example:
        def test_moves(answer, device, gen):
            expect_moves(case(answer), device, gen)  # `case` as for `Case`
    """
    module = _used(case, gen)
    wanted = case.wanted(state_of(module))
    nn.ModuleDict({"part": module}).to(device)
    for name, t in tensors_of(module).items():
        expect_that(is_simulated(t), f"{name} of {case.call} stays behind when the model moves", yours=t)
    there = [x.to(device) for x in case.inputs]
    with count_traffic() as traffic:
        yours = module(*there)
    for t in _leaves(yours):
        expect_that(is_simulated(t), f"the result of {case.call} on a device is not there", yours=t)
    yours = tree_map_only(Tensor, on_host, yours)
    _expect_results(yours, wanted, f"{case.call} on another device", ulps=None)
    expect_no_traffic(traffic, f"{case.call}(…)")


def expect_casts(case: Case, dtype: torch.dtype, gen: torch.Generator, *, ulps: float | None = None) -> None:
    """Fail unless a model that contains the module can be cast, and then computes in that dtype.

    Example:
        def test_casts(answer, gen):
            expect_casts(case(answer), torch.bfloat16, gen)  # `case` as for `Case`
    """
    module = _used(case, gen)
    nn.ModuleDict({"part": module}).to(dtype)
    for name, t in tensors_of(module).items():
        if t.is_floating_point():
            expect_equal(t.dtype, dtype, f"the dtype of {name} after {case.call}.to({dtype})")
    cast = Case(case.make, [_cast(x, dtype) for x in case.inputs], case.reference, case.call)
    wanted = cast.wanted(state_of(module))
    _expect_results(module(*cast.inputs), wanted, f"{case.call}.to({dtype})", ulps=ulps)


def expect_loads(case: Case, gen: torch.Generator) -> None:
    """Fail unless a saved state dict makes a fresh module compute what the saved one did.

    Example:
        def test_loads(answer, gen):
            expect_loads(case(answer), gen)  # `case` as for `Case`
    """
    first, second = _fresh(case, gen), case.make()
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    saved = torch.load(file, weights_only=True)
    wanted = case.wanted({**state_of(second), **saved})
    try:
        second.load_state_dict(saved)
    except RuntimeError as error:
        raise CheckFailure(
            f"the state dict of one {case.call} does not load into another", yours=str(error)
        ) from None
    for name, t in second.state_dict().items():
        expect_equal(t, saved[name], f"{name} of {case.call} after load_state_dict")
    _expect_results(second(*case.inputs), wanted, f"{case.call} after load_state_dict", ulps=None)


def expect_copies(case: Case, gen: torch.Generator) -> None:
    """Fail unless a deep copy computes the same, and shares nothing with the original.

    Example:
        def test_copies(answer, gen):
            expect_copies(case(answer), gen)  # `case` as for `Case`
    """
    original = _fresh(case, gen)
    before = state_of(original)
    wanted = case.wanted(before)
    original(*case.inputs)  # what a call leaves on the module is copied along
    try:
        copied = copy.deepcopy(original)
    except RuntimeError as error:
        raise CheckFailure(
            f"{case.call} cannot be copied any more after it was called: copy.deepcopy raises",
            yours=f"{type(error).__name__}: {str(error).splitlines()[0]}",
            likely="a tensor with a graph is kept as an attribute: detach it, or do not keep it",
        ) from error
    _expect_results(copied(*case.inputs), wanted, f"a deep copy of {case.call}", ulps=None)
    randomize(copied, gen)
    for name, t in state_of(original).items():
        expect_equal(t, before[name], f"{name} of {case.call} after its deep copy was changed")
    wanted = case.wanted(state_of(copied))
    _expect_results(copied(*case.inputs), wanted, f"a deep copy of {case.call}, changed since", ulps=None)


def expect_functional(case: Case, gen: torch.Generator) -> None:
    """Fail unless `torch.func.functional_call` with other parameters gives their values and gradients.

    Example:
        def test_functional(answer, gen):
            expect_functional(case(answer), gen)  # `case` as for `Case`
    """
    module = case.make()
    before = state_of(module)
    names = [name for name, _ in module.named_parameters()]
    others = [torch.randn(before[name].shape, generator=gen) for name in names]
    call = f"functional_call({case.call}, parameters, …)"
    wanted = case.wanted({**before, **dict(zip(names, others, strict=True))})

    def run(*tensors: Tensor) -> Any:
        given = dict(zip(names, tensors, strict=False))
        return functional_call(module, given, tuple(tensors[len(names) :]))

    def exact(*tensors: Tensor) -> Tensor:
        given = dict(zip(names, tensors, strict=False))
        state = {name: _double(t) for name, t in before.items()} | given
        flat: Tensor = _flat(case.reference(state, *tensors[len(names) :]))
        return flat

    _expect_results(run(*others, *case.inputs), wanted, call, ulps=None)
    expect_gradients(
        lambda *tensors: _flat(run(*tensors)),
        [*others, *case.inputs],
        exact,
        gen=gen,
        call=call,
        names=" ".join([*names, *(f"input{i}" for i in range(len(case.inputs)))]),
    )
    for name, t in state_of(module).items():
        expect_equal(t, before[name], f"{name} of {case.call} after {call}")


def expect_trains(case: Case, gen: torch.Generator, *, steps: int = 3, lr: float = 0.1) -> None:
    """Fail unless steps of gradient descent move every parameter as they move the reference's.

    Example:
        def test_trains(answer, gen):
            expect_trains(case(answer), gen, steps=2)  # `case` as for `Case`
    """
    module = _fresh(case, gen).double()
    inputs = [_double(x) for x in case.inputs]
    names = [name for name, _ in module.named_parameters()]
    state = state_of(module)
    case.wanted(state)  # tells which names are missing
    for _ in range(steps):
        leaves = {name: state[name].requires_grad_() for name in names}
        loss = _flat(case.reference({**state, **leaves}, *inputs)).square().mean()
        gradients = torch.autograd.grad(
            loss, list(leaves.values()), allow_unused=True, materialize_grads=True
        )
        for name, gradient in zip(names, gradients, strict=True):
            state[name] = (leaves[name] - lr * gradient).detach()
    for _ in range(steps):
        module.zero_grad()
        _flat(module(*inputs)).square().mean().backward()
        with torch.no_grad():
            for p in module.parameters():
                p.sub_(lr * (torch.zeros_like(p) if p.grad is None else p.grad))
    for name, p in module.named_parameters():
        expect_close(p.detach(), state[name], f"{name} of {case.call} after {steps} steps of training")


def _fresh(case: Case, gen: torch.Generator) -> nn.Module:
    module = case.make()
    randomize(module, gen)
    return module


def _used(case: Case, gen: torch.Generator) -> nn.Module:
    """One that has run: what it keeps from that, such as a mask, is of no use elsewhere."""
    module = _fresh(case, gen)
    with torch.no_grad():
        module(*case.inputs)
    return module


def _leaves(results: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(results) if isinstance(leaf, Tensor)]


def _flat(results: Any) -> Any:
    """All results in one tensor; a single one as it is."""
    if isinstance(results, dict):
        return torch.cat([results[name].flatten() for name in sorted(results)])
    return results


def _cast(x: Tensor, dtype: torch.dtype) -> Tensor:
    return x.to(dtype) if x.is_floating_point() else x


def _double(x: Tensor) -> Tensor:
    return _cast(x.detach().clone(), torch.float64)


def _expect_results(yours: Any, wanted: Any, call: str, *, ulps: float | None) -> None:
    if isinstance(wanted, dict):
        expect_that(isinstance(yours, dict), f"the result of {call} is no dict", yours=yours)
        expect_equal(list(yours), list(wanted), f"the names in the result of {call}")
        for name, right in wanted.items():
            expect_close(yours[name], right, f"{call}(…)[{name!r}]", ulps=ulps)
    else:
        expect_close(yours, wanted, f"{call}(…)", ulps=ulps)
