"""Weight decay for matrices alone: which parameter belongs to which group.

Decay keeps large weights in check. A bias or the scale of a norm has no reason to be near 0. So recipes for
transformers decay what has two dimensions or more, and nothing else. (Brown et al. 2020, "GPT-3",
appendix B, as nanoGPT does it.) Write the two groups for an optimizer:

    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2))
    decayed, others = parameter_groups(model, 0.1)
    decayed    # {"params": [0.weight, 2.weight], "weight_decay": 0.1}
    others     # {"params": [0.bias, 1.weight, 1.bias, 2.bias], "weight_decay": 0.0}
    torch.optim.AdamW([decayed, others], lr=1e-3)

- Each parameter of the model is in one group, once: also one that two layers share.
- Names tell nothing: a norm in a Sequential may be called "1". Look at the dimensions.
- What `skip` names does not decay either: a parameter ("2.weight") or a module, with all that is in it ("head").

Fine print:
- Parameters that require no gradient are in neither group.
- Each list keeps the order of `model.parameters()`: the saved state of an optimizer is loaded by position.
- "head" in skip does not mean "header.weight": a name counts whole, up to a dot.
- Both groups come back, also where one has no parameters.
"""

from collections.abc import Collection
from typing import Any

from torch import nn


def parameter_groups(
    model: nn.Module, weight_decay: float, skip: Collection[str] = ()
) -> list[dict[str, Any]]:
    """The groups of what decays and of what does not, in this order."""
    raise NotImplementedError
