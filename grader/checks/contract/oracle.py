"""The oracle that contracts make: what an answer gives for ordinary calls, case by case, as plain data."""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from grader.checks._compat import tree_map_only
from grader.checks.contract.call import cases
from grader.checks.contract.contract import Contract
from grader.checks.contract.effects import Effect
from grader.checks.contract.given import Given, Inputs, copied
from grader.checks.contract.result import flat
from grader.checks.failure import Misuse
from grader.protocol.oracle_codec import Rough

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
                found[f"{prefix}{case.about}"] = partial(_result, contract, answer, case.given)
                if contract.after:
                    about = f"{prefix}{case.about}: {contract.after} afterwards"
                    found[about] = partial(_left, contract, answer, case.given)
            if contract.gradient and not fine:
                whose = f" through {contract.signature.name}" if prefix else ""
                # By a stream of its own: what an answer raises elsewhere is nothing to it.
                found[f"the gradient{whose}"] = partial(_gradients, contract, answer, _fork(gen), inputs)
        return found

    return oracle


def example_of(contracts: Sequence[Contract]) -> Oracle | None:
    """What an answer gives for the worked examples of these contracts, function by function."""
    shown = [contract for contract in contracts if contract.example]
    if not shown:
        return None

    def example(answer: ModuleType, gen: torch.Generator) -> dict[str, Any]:
        return {contract.signature.name: partial(_examples, contract, answer) for contract in shown}

    return example


def _examples(contract: Contract, answer: ModuleType) -> list[Any]:
    return [_result(contract, answer, contract.arguments(one)) for one, _ in contract.examples]


def _result(contract: Contract, answer: ModuleType, given: Given) -> Any:
    """What comes back for copies of the arguments: cases may share memory, into which an answer may write."""
    found = contract.run(answer, copied(given))
    if isinstance(found, Effect):
        return _detached(_narrowed(found.after) if found.result is None else found.result)
    return _rounded(contract, _detached(found))


def _detached(found: Any) -> Any:
    return tree_map_only(Tensor, torch.Tensor.detach, found)


def _rounded(contract: Contract, found: Any) -> Any:
    """With what the contract says of rounding. Of steps it is said for doubles, and these are narrowed."""
    if contract.after or (contract.ulps is None and contract.scale is None):
        return found
    return Rough(found, contract.ulps, contract.scale)


def _left(contract: Contract, answer: ModuleType, given: Given) -> Any:
    """What a call leaves behind."""
    return _narrowed(contract.run(answer, copied(given)).after)


def _narrowed(left: dict[str, Tensor | None]) -> dict[str, Tensor | None]:
    """In float32: rounding has gone through several steps."""
    return {name: t if t is None else t.float() for name, t in left.items()}


def _fork(gen: torch.Generator) -> torch.Generator:
    return torch.Generator().manual_seed(int(torch.randint(2**62, (), generator=gen)))


def _gradients(contract: Contract, answer: ModuleType, gen: torch.Generator, inputs: Inputs) -> Any:
    """The gradients of the first call that has any to give, for a random cotangent."""
    for given in [case.given for case in cases(inputs(gen))]:
        found = contract.signature.leaves(given, contract.gradient)
        leaves = {name: t.detach().clone().requires_grad_() for name, t in found.items()}
        if leaves:
            return _gradient(contract, answer, gen, given, leaves)
    raise Misuse(f"no call of {contract.call} has a floating {contract.gradient}")


def _gradient(
    contract: Contract, answer: ModuleType, gen: torch.Generator, given: Given, leaves: dict[str, Tensor]
) -> Any:
    out = flat(contract.run(answer, contract.signature.replaced(given, leaves)))
    out.backward(torch.randn(out.shape, generator=gen).to(out.dtype))
    gradients = {name: leaf.grad for name, leaf in leaves.items()}
    found: Any = next(iter(gradients.values())) if len(gradients) == 1 else gradients
    if given.layer is not None:  # on one scale: that of a bias may be 0 up to rounding
        found = torch.cat([g.flatten() for g in gradients.values() if g is not None])
    return _rounded(contract, found)
