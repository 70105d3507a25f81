"""The first layer at which two models part.

You have ported a model, fused two of its layers or loaded its checkpoint elsewhere, and the logits are not
the same. `find_divergence` runs both on the same inputs, and tells where they part:

    reference = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    candidate = copy.deepcopy(reference)
    candidate[2].bias.data += 0.5
    find_divergence(reference, candidate, x)     # Divergence(layer="2", call=0, error=0.5)
    find_divergence(reference, reference, x)     # None

The outputs of all modules are compared one by one, in the order in which the reference's calls end: a layer
comes before the block that it is in. The first whose outputs differ is the result. The model itself is a
module too, with the name "".

Rules:
- A number a of the reference and b of the candidate agree if |a - b| <= atol + rtol × |a|, in float64,
  whatever their dtypes. NaN agrees with NaN, inf with inf of the same sign, and neither with anything else.
- error is the largest |a - b| in the outputs of that call, a float. It is inf where NaN or inf stands
  against another number, and where a tensor has another shape or stands alone.
- Outputs are tensors, or tuples, lists and dicts of them, nested; values of dicts belong together by key.
  What is no tensor is not compared.
- layer is the name in `named_modules()`: a module of two names goes by the first. A module may be called
  several times; call counts its calls from 0.
- The runs are compared call by call. Where the models call modules of different names, or one has come to
  its end, they part there: layer and call are the reference's, or the candidate's if the reference is at its
  end; error is inf.
- An output counts as it was when the call ended, even if a later layer writes over it in place.
- inputs are tensors, or tuples (named ones, too), lists and dicts of them. Each model gets copies of its own,
  since some write into their inputs; yours are not changed.
- Both models run once, in evaluation mode and without a graph. Afterwards, also when a model raises, each
  module has its own mode again and no hook is left; errors pass through. Hooks of others run, and stay. The
  models may share modules, or be one and the same.
"""

from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class Divergence:
    """Where two models part.

    Attributes:
        layer: the name of the module.
        call: which of its calls, from 0.
        error: the largest difference between its outputs.
    """

    layer: str
    call: int
    error: float


def find_divergence(
    reference: nn.Module, candidate: nn.Module, *inputs: object, rtol: float = 1e-4, atol: float = 1e-6
) -> Divergence | None:
    """Run two models on the same inputs, and find the first call whose outputs differ.

    Args:
        reference: the model that is right.
        candidate: the model to judge.
        inputs: what both are called with.
        rtol: the difference to allow, relative to the reference.
        atol: the difference to allow besides.

    Returns:
        Where they part, or None if they do not.
    """
    raise NotImplementedError
