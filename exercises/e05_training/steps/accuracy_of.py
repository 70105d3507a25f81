"""How many are right: `accuracy_of(model, x, labels)`.

Before a model is used, somebody counts how often it is right. Return the share of rows whose class, the place
of the largest logit, is the label: a number from 0 to 1.

    # the model's logits: [2, 1], [0, 3], [4, 1]: classes 0, 1, 0
    accuracy_of(model, x, torch.tensor([0, 1, 1]))      # 0.667: two of three

- Dropout must be off while the model runs. Leave the model in evaluation mode, or switch back: either is right.
- No graph is recorded.

New here: `model.eval()` and `with torch.no_grad():` belong together wherever a model is measured.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def accuracy_of(model: nn.Module, x: Float[Tensor, "rows features"], labels: Int[Tensor, " rows"]) -> float:
    raise NotImplementedError
