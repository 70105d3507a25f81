"""Which parameters do not move, and why?

The loss falls, so nobody notices that one layer still has the numbers that it began with. `stuck_parameters`
takes one ordinary training step, and names each parameter that is the same after it, with the reason:

    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    model[0].weight.requires_grad_(False)
    optimizer = torch.optim.SGD([model[0].weight, model[2].weight], lr=0.1)

    def train_step():
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    stuck_parameters(model, optimizer, train_step)
    # {"0.weight": "frozen", "0.bias": "not in optimizer", "2.bias": "not in optimizer"}

The reason is the first in this table that is true:

    "frozen"            it does not require a gradient
    "not in optimizer"  no parameter group of the optimizer holds it: this very tensor, not one that is equal
    "no step"           train_step made no step of the optimizer: forgotten, or skipped by a GradScaler
    "no gradient"       its gradient was None
    "zero gradient"     all of its gradient was 0
    "zero rate"         the learning rate of its group was 0
    "lost"              none of these: rounded away, for example

Rules:
- A parameter has moved if any of its numbers is another after train_step, whoever changed it; a NaN that
  stays NaN has not moved. One that has moved is not in the result, whatever else is true of it, nor is one
  without elements. A healthy model gives {}.
- train_step is called once. It may do what training steps do: clear the gradients at its end, call a
  scheduler after the optimizer, hand a closure to `optimizer.step`, step several times. So gradients and
  rates are judged as they are when a step of the optimizer ends; and with several steps, a gradient is None
  or 0, and a rate 0, if it was in all of them. What is frozen and what the optimizer holds is judged as it
  is after train_step, which may thaw a layer and add a group for it.
- A tiny gradient is not 0, nor is one with NaN, nor one whose numbers cancel out. Gradients may be sparse.
- A parameter of two names goes by the first, as in `named_parameters()`. There may be any number of groups,
  with rates that are floats or tensors. Parameters are of any dtype and on any device.
- train_step does what it would do alone: the same numbers, no change to modes, gradients or random streams.
  Its errors pass through. Afterwards, also after an error, no hook is left on model or optimizer, and none
  of their methods is replaced.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def stuck_parameters(
    model: nn.Module, optimizer: torch.optim.Optimizer, train_step: Callable[[], object]
) -> dict[str, str]:
    """Take one training step, and tell which parameters it leaves as they were.

    Args:
        model: its parameters are watched.
        optimizer: the optimizer that should move them.
        train_step: forward, backward and the optimizer's step; what it returns is dropped.

    Returns:
        The reason by the name of the parameter, for those that did not move.
    """
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    seen: dict[Tensor, set[str]] = {}  # what was wrong with a parameter in all steps so far

    def note(optimizer: torch.optim.Optimizer, args: object, kwargs: object) -> None:
        held = {p for group in optimizer.param_groups for p in group["params"]}
        late = {"params": [p for p in model.parameters() if p not in held], "lr": 1.0}  # may be added yet
        for group in [*optimizer.param_groups, late]:
            for p in group["params"]:
                wrong = _wrong(p, group["lr"])
                seen[p] = seen.get(p, wrong) & wrong

    handle = optimizer.register_step_post_hook(note)  # a closure has run by then, and nothing is cleared yet
    try:
        train_step()
    finally:
        handle.remove()
    owned = {p for group in optimizer.param_groups for p in group["params"]}
    return {
        name: _reason(p, p in owned, seen.get(p))
        for name, p in model.named_parameters()
        if _same(p.detach(), before[name])
    }


def _wrong(p: Tensor, rate: float | Tensor) -> set[str]:
    """What keeps a parameter from moving in this step."""
    wrong = {"zero rate"} if float(rate) == 0.0 else set()
    if p.grad is None:
        return wrong | {"no gradient", "zero gradient"}  # None in one step and 0 in another: zero
    values = p.grad.coalesce().values() if p.grad.is_sparse else p.grad
    return wrong if bool((values != 0).any()) else wrong | {"zero gradient"}


def _reason(p: Tensor, owned: bool, wrong: set[str] | None) -> str:
    """The first reason of the table."""
    if not p.requires_grad:
        return "frozen"
    if not owned:
        return "not in optimizer"
    if wrong is None:
        return "no step"
    return next((r for r in ("no gradient", "zero gradient", "zero rate") if r in wrong), "lost")


def _same(now: Tensor, before: Tensor) -> bool:
    """Whether no number is another; NaN is as good as NaN."""
    both_nan = now.isnan() & before.isnan()
    return now.numel() > 0 and bool(((now == before) | both_nan).all())
