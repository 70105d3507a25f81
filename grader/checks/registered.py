"""Which tensors a module has registered: parameters and buffers, by name."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from grader.checks.devices import on_host
from grader.checks.failure import CheckFailure
from grader.checks.values import expect_equal, expect_that

__all__ = ["expect_registered", "randomize", "state_of"]


UNREGISTERED = "not made at all, a plain attribute, or one in a list: a module only knows what is registered"


def expect_registered(
    module: nn.Module,
    call: str,
    *,
    parameters: Mapping[str, Sequence[int]],
    buffers: Mapping[str, Sequence[int]] | None = None,
    unsaved: Mapping[str, Sequence[int]] | None = None,
    dtype: torch.dtype = torch.float32,
) -> None:
    """Fail unless the module has exactly these parameters and buffers, by name and shape, each its own.

    Parameters have to require gradients, buffers must not. `buffers` are saved with the state dict, `unsaved`
    ones are not.

    Example:
        def test_parameters(answer):
            expect_registered(answer.Scale(3), "Scale(3)", parameters={"weight": (3,)})
    """
    saved, unsaved = buffers or {}, unsaved or {}
    _expect_shapes(dict(module.named_parameters(remove_duplicate=False)), parameters, f"parameters of {call}")
    _expect_shapes(
        dict(module.named_buffers(remove_duplicate=False)), {**saved, **unsaved}, f"buffers of {call}"
    )
    kept = module.state_dict()
    lacks = [name for name in saved if name not in kept]
    told = f"{call}.state_dict() lacks {', '.join(lacks)}"
    expect_that(not lacks, told, likely="persistent=False keeps a buffer out of it")
    expect_equal(sorted(kept), sorted({**parameters, **saved}), f"the names in {call}.state_dict()")
    _expect_untied(module, call)
    for name, p in module.named_parameters():
        expect_that(p.requires_grad, f"the parameter {name} of {call} does not require a gradient")
    for name, t in module.named_buffers():
        expect_that(not t.requires_grad, f"the buffer {name} of {call} requires a gradient")
    for name, t in tensors_of(module).items():
        if t.is_floating_point():
            expect_equal(t.dtype, dtype, f"the dtype of {name} in {call}")


def tensors_of(module: nn.Module) -> dict[str, Tensor]:
    """All parameters and buffers, by name."""
    return dict(module.named_parameters()) | dict(module.named_buffers())


def randomize(module: nn.Module, gen: torch.Generator) -> None:
    """Overwrite what the state dict saves: parameters with normal numbers, buffers with some near one.

    Example:
        def test_weight_is_used(answer, gen):
            layer = answer.Scale(3)
            randomize(layer, gen)
            expect_close(layer(torch.ones(3)), layer.weight, "Scale(3)(torch.ones(3))")
    """
    buffers = dict(module.named_buffers(remove_duplicate=False))
    for name, t in module.state_dict().items():
        if t.is_floating_point():
            near_one = 0.5 + torch.rand(t.shape, generator=gen)
            t.copy_(near_one if name in buffers else torch.randn(t.shape, generator=gen))


def state_of(module: nn.Module) -> dict[str, Tensor]:
    """Copies on the CPU of all parameters and buffers, by name.

    Example:
        def test_a_call_leaves_the_state_alone(answer):
            layer = answer.Scale(3)
            before = state_of(layer)
            layer(torch.ones(2, 3))
            expect_equal(state_of(layer), before, "the state of Scale(3) after a call")
    """
    return {name: on_host(t) for name, t in tensors_of(module).items()}


def _expect_untied(module: nn.Module, call: str) -> None:
    first: dict[int, str] = {}
    for name, p in module.named_parameters(remove_duplicate=False):
        if first.setdefault(id(p), name) != name:
            raise CheckFailure(f"{first[id(p)]} and {name} of {call} are one and the same parameter")


def _expect_shapes(found: Mapping[str, Tensor], wanted: Mapping[str, Sequence[int]], what: str) -> None:
    yours = {name: tuple(t.shape) for name, t in found.items()}
    right = {name: tuple(shape) for name, shape in wanted.items()}
    if yours != right:
        mine = {name: shape for name, shape in yours.items() if right.get(name) != shape}
        lacking = {name: shape for name, shape in right.items() if yours.get(name) != shape}
        told = {"yours": _listed(mine), "wanted": _listed(lacking)}
        if not mine:
            told = {"lacks": _listed(lacking)}
        elif not lacking:
            told = {"extra": _listed(mine)}
        likely = "" if mine else UNREGISTERED
        if sorted(map(sorted, mine.values())) == sorted(map(sorted, lacking.values())) and len(mine) == 1:
            likely = "right sizes in the wrong order"
        raise CheckFailure(f"wrong {what}", likely=likely, **told)


def _listed(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in sorted(shapes.items()))
