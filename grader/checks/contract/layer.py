"""Build a layer of an answer: where its call is, in that dtype, with its tensors loaded by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from grader.checks._compat import tree_map_only
from grader.checks.contract.given import Given, copied, tensors
from grader.checks.devices import on_host
from grader.checks.failure import CheckFailure
from grader.checks.registered import UNREGISTERED, tensors_of
from grader.checks.values import expect_equal, expect_that


def built(make: Callable[..., nn.Module], given: Given, call: str) -> nn.Module:
    """A new layer of the answer, on the device of its call, in the dtype of its state, which is loaded.

    One that is moved or cast has run before: what it keeps from that, such as a mask, is of no use there.
    """
    assert given.layer is not None
    args, kwargs, state, training = copied(given).layer or given.layer
    module = make(*args, **kwargs)
    expect_that(isinstance(module, nn.Module), f"{call} is no nn.Module", yours=module)
    _expect_names(module, state, call)
    device = next((t.device for t in tensors(given)), torch.device("cpu"))
    dtype = next((t.dtype for t in _floating(state)), None)
    whole = nn.ModuleDict({"part": module})  # people move and switch a model, of which it is a part
    whole.train(training)
    if given.is_call and not _is_there(module, device, dtype):
        _use(module, given)
        whole.to(device=device, dtype=dtype)
        _expect_there(module, device, dtype, call)
    module.load_state_dict({**module.state_dict(), **state})
    return module


def forward_of(module: nn.Module, state: Mapping[str, Tensor]) -> Callable[..., object]:
    """The layer as a function, through which gradients reach those of its tensors that want one."""
    leaves = {name: t for name, t in state.items() if t.requires_grad}
    if not leaves:
        return module
    return lambda *args, **kwargs: functional_call(module, leaves, args, kwargs)


def referred(
    function: Callable[..., Any],
    given: Given,
    options: Mapping[str, Any],
    *,
    like: Callable[..., Any] | None,
    name: str,
) -> tuple[Any, dict[str, Tensor]]:
    """What a function like the reference returns of a state and the arguments of a call, and the state then.

    Of the options it gets what it has parameters for; a mistake in `**options` gets what the reference does.
    """
    assert given.layer is not None
    state, names = dict(given.layer.state), _parameters(function) or _parameters(like)
    taken = {option: value for option, value in options.items() if names is None or option in names}
    try:
        result = function(state, *given.args, **given.kwargs, **taken)
    except KeyError as missing:
        if missing.args[0] in state:
            raise
        raise unregistered(missing.args[0], state, name) from None
    return result, state


def _parameters(function: Callable[..., Any] | None) -> set[str] | None:
    """The names of a function's parameters; None where it takes any."""
    found = signature(function).parameters.values() if function else []
    return None if any(p.kind is p.VAR_KEYWORD for p in found) or not function else {p.name for p in found}


def _use(module: nn.Module, given: Given) -> None:
    """Run the layer where it is, in its own dtype."""
    dtype = next((t.dtype for t in _floating(tensors_of(module))), torch.float32)

    def here(x: Tensor) -> Tensor:
        x = on_host(x)
        return x.to(dtype) if x.is_floating_point() else x

    args, kwargs = tree_map_only(Tensor, here, (given.args, given.kwargs))
    with torch.no_grad():
        module(*args, **kwargs)


def _is_there(module: nn.Module, device: torch.device, dtype: torch.dtype | None) -> bool:
    """Whether all tensors of the module lie on this device, and the floating ones have this dtype."""
    held = tensors_of(module)
    return all(t.device == device for t in held.values()) and all(
        t.dtype == (dtype or t.dtype) for t in _floating(held)
    )


def _expect_there(module: nn.Module, device: torch.device, dtype: torch.dtype | None, call: str) -> None:
    for name, t in tensors_of(module).items():
        expect_that(t.device == device, f"{name} of {call} stays behind when the model moves", yours=t)
        if dtype and t.is_floating_point():
            expect_equal(t.dtype, dtype, f"the dtype of {name} after {call}.to({dtype})")


def _expect_names(module: nn.Module, state: Mapping[str, Tensor], call: str) -> None:
    """Fail unless the layer has registered a tensor of this name and shape for each that it is to load."""
    held = module.state_dict()
    for name, t in state.items():
        if name not in held:
            raise unregistered(name, held, call)
        expect_equal(tuple(held[name].shape), tuple(t.shape), f"the shape of {name} in {call}")


def unregistered(name: str, held: Iterable[str], call: str) -> CheckFailure:
    """What is said where a layer has no tensor of this name."""
    told = f"{call} has no parameter or buffer named {name!r}"
    return CheckFailure(told, yours=", ".join(held) or "none at all", likely=UNREGISTERED)


def _floating(state: Mapping[str, Tensor]) -> Iterator[Tensor]:
    return (t for t in state.values() if t.is_floating_point())
