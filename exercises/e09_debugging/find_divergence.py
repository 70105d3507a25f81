"""The first layer at which two models part.

You have ported a model, and the logits are not the same. `find_divergence` runs both on the same inputs, in evaluation
mode, and tells the first call of a module whose outputs differ:

    reference = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    candidate = copy.deepcopy(reference)
    candidate[2].bias.data += 0.5
    find_divergence(reference, candidate, x)     # Divergence(layer="2", call=0, error=0.5)
    find_divergence(reference, reference, x)     # None

- All modules count, in the order in which their calls end: layers before their block, the model last.
- layer is the name in `named_modules()`, "" for the model. call counts this module's calls, from 0.
- a of the reference and b of the candidate agree if |a - b| <= atol + rtol · |a|. NaN and a number do not.
- error is the largest |a - b| in that call, a float.
- No hook is left afterwards.

Fine print:
- Where a model raises, its error comes out, and no hook is left either. Each module has its own mode back.
- An output counts as it was when its call ended, even if a ReLU in place writes over it later.
- rtol is relative to the reference: `torch.allclose` takes it of its second argument.
- NaN agrees with NaN, inf with inf of its sign; beside another number, error is inf.
- Outputs may be tuples, lists and dicts (by key) of tensors, nested; the rest is not compared.
- Numbers are compared in float64, whatever their dtypes. For other shapes, or a tensor that stands alone, error is inf.
- Where the models call modules of other names they part, with the reference's layer and call, and error inf.
- Each model gets copies of the inputs, to write into.
- Each runs once, without a graph. Hooks of others run and stay.
"""

from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class Divergence:
    """Where two models part: the module's name, which of its calls, and the largest difference."""

    layer: str
    call: int
    error: float


def find_divergence(
    reference: nn.Module, candidate: nn.Module, *inputs: object, rtol: float = 1e-4, atol: float = 1e-6
) -> Divergence | None:
    """Run two models on the same inputs, and find the first call whose outputs differ; None if there is none."""
    raise NotImplementedError
