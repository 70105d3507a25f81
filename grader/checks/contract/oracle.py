"""The oracle that contracts make: what an answer gives for ordinary calls, case by case, as plain data."""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from grader.checks._compat import tree_map_only
from grader.checks.contract.call import Case, Inputs, cases
from grader.checks.contract.contract import Contract
from grader.checks.contract.result import flat, is_floating

Oracle = Callable[[ModuleType, torch.Generator], dict[str, Any]]


def oracle_of(contracts: Sequence[Contract], *, fine: bool = False) -> Oracle | None:
    """The oracle of these contracts, or their fine oracle; None where they have no inputs for it.

    Each case is a function that computes it, so that it can fail by itself. They are made without reference
    and checks where answers run: see `grader.engine.oracle`.
    """
    drawn = [(c, c.fine_inputs if fine else c.inputs) for c in contracts]
    wanted = [(contract, inputs) for contract, inputs in drawn if inputs is not None]
    if not wanted:
        return None

    def oracle(answer: ModuleType, gen: torch.Generator) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for contract, inputs in wanted:
            prefix = f"{contract.signature.name} of " if len(wanted) > 1 else ""
            for case in cases(inputs(gen)):
                found[f"{prefix}{case.about}"] = partial(_result, contract, answer, case)
            if contract.gradient and not fine:
                whose = f" through {contract.signature.name}" if prefix else ""
                # By a stream of its own: what an answer raises elsewhere is nothing to it.
                found[f"the gradient{whose}"] = partial(_gradients, contract, answer, _fork(gen), inputs)
        return found

    return oracle


def _result(contract: Contract, answer: ModuleType, case: Case) -> Any:
    return tree_map_only(Tensor, torch.Tensor.detach, contract.run(answer, case.given))


def _fork(gen: torch.Generator) -> torch.Generator:
    return torch.Generator().manual_seed(int(torch.randint(2**62, (), generator=gen)))


def _gradients(contract: Contract, answer: ModuleType, gen: torch.Generator, inputs: Inputs) -> Any:
    """The gradients of the first call that has any to give, for a random cotangent."""
    for case in cases(inputs(gen)):
        named = contract.signature.named(case.given)
        leaves = {
            name: named[name].detach().clone().requires_grad_()
            for name in contract.gradient.split()
            if is_floating(named.get(name))
        }
        if leaves:
            return _gradient(contract, answer, gen, case, leaves)
    raise ValueError(f"no call of {contract.call} has a floating {contract.gradient}")


def _gradient(
    contract: Contract, answer: ModuleType, gen: torch.Generator, case: Case, leaves: dict[str, Tensor]
) -> Any:
    out = flat(contract.run(answer, contract.signature.replaced(case.given, leaves)))
    out.backward(torch.randn(out.shape, generator=gen).to(out.dtype))
    gradients = {name: leaf.grad for name, leaf in leaves.items()}
    return next(iter(gradients.values())) if len(gradients) == 1 else gradients
