"""What a call leaves as it was: its inputs, the modes of models, hooks, random streams."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

from grader.checks._compat import TENSOR_HOOKS
from grader.checks.failure import CheckFailure
from grader.checks.values import expect_equal, expect_that


def _differing(now: Tensor, was: Tensor) -> Tensor:
    """Where the numbers differ; NaN is the same as NaN."""
    return now.ne(was) & ~(now.ne(now) & was.ne(was))


@contextmanager
def unchanged(call: str, **tensors: Tensor) -> Iterator[None]:
    """Fail if the block changes one of the named tensors: values, shape, dtype or requires_grad.

    Compared with a clone, because writes through `.data` and `.numpy()` leave no other trace.

    Example:
        def test_input_is_left_alone(answer, gen):
            x = torch.randn(4, generator=gen)
            with unchanged("center(x)", x=x):
                answer.center(x)
    """
    before = {name: (t.detach().clone(), t.requires_grad) for name, t in tensors.items()}
    yield
    for name, (was, required) in before.items():
        now = tensors[name]
        same = now.shape == was.shape and now.dtype == was.dtype and not _differing(now.detach(), was).any()
        if not same:
            changed = int(_differing(now.detach(), was).sum()) if now.shape == was.shape else "all"
            raise CheckFailure(
                f"{call} changes its input {name}",
                yours=f"{changed} of {was.numel()} values differ afterwards",
                wanted=f"{name} as it was",
                likely=f"an in-place operation or an assignment into {name}",
            )
        if now.requires_grad != required:
            raise CheckFailure(f"{call} changes requires_grad of its input {name} to {now.requires_grad}")


@contextmanager
def modes_kept(call: str, *models: nn.Module) -> Iterator[None]:
    """Fail if the block leaves a layer of `models` in another mode, or gradients switched on or off.

    Put the call of an answer that must raise into the block together with what catches its error.

    Example:
        def test_mode_is_kept(answer):
            model = nn.Sequential(nn.Linear(3, 2), nn.Dropout())
            with modes_kept("predict(model, x)", model):
                answer.predict(model, torch.ones(1, 3))
    """
    modes = [(name, m, m.training) for model in models for name, m in model.named_modules()]
    was_enabled = torch.is_grad_enabled()
    yield
    enabled = torch.is_grad_enabled()
    torch.set_grad_enabled(was_enabled)
    expect_that(
        enabled == was_enabled,
        f"gradients are {'on' if enabled else 'off'} after {call}",
        yours=f"torch.is_grad_enabled() is {enabled}",
        wanted=f"{was_enabled}, as before",
    )
    for name, layer, mode in modes:
        where = f"layer {name}" if name else "the model itself"
        expect_equal(layer.training, mode, f"the training flag of {where} after {call}")


def hooks_of(holder: nn.Module | Tensor | torch.optim.Optimizer) -> list[tuple[str, object]]:
    """The hooks on one module without its parts, one tensor or one optimizer, in order: kind and key of each.

    Example:
        def test_hook_is_removed(answer):
            model = nn.Linear(2, 1)
            answer.shape_of_result(model, torch.ones(3, 2))
            expect_equal(hooks_of(model), [], "the hooks on the model after shape_of_result(model, x)")
    """
    lists = {name: getattr(holder, name, None) for name in TENSOR_HOOKS}
    return _hooks_in(lists if isinstance(holder, Tensor) else vars(holder))


def hooks_of_all() -> list[tuple[str, object]]:
    """The hooks for all modules and all optimizers: kind and key of each.

    Example:
        def test_no_hook_for_all_modules(answer):
            before = hooks_of_all()
            answer.shape_of_result(nn.Linear(2, 1), torch.ones(3, 2))
            expect_equal(hooks_of_all(), before, "the hooks for all modules after shape_of_result(model, x)")
    """
    return _hooks_in({**vars(modules), **vars(optimizers)})


def _hooks_in(names: Mapping[str, Any]) -> list[tuple[str, object]]:
    kinds = {kind: keys for kind, keys in names.items() if kind.endswith("_hooks") and isinstance(keys, dict)}
    return [(kind, key) for kind, keys in kinds.items() for key in keys]


@contextmanager
def global_rng_untouched(call: str) -> Iterator[None]:
    """Fail if the block draws from, or seeds, torch's global random stream.

    Example:
        def test_draws_from_the_generator(answer, gen):
            with global_rng_untouched("shuffled(8, gen)"):
                answer.shuffled(8, gen)
    """
    before = torch.get_rng_state()
    yield
    if not torch.equal(before, torch.get_rng_state()):
        raise CheckFailure(
            f"{call} touches the global random stream",
            yours="torch's global generator has moved on, or was seeded again",
            wanted="as it was before: draws come from a generator of one's own, or one that was given",
        )
