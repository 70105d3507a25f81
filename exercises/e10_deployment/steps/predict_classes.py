"""Ask a trained model: `predict_classes(model, x)`.

A model that is in use has stopped learning. Return the class of each row, the place of its largest logit.

    # the model's logits: [2, 1], [0, 3], [4, 1]
    predict_classes(model, x)       # tensor([0, 1, 0])

- Dropout must be off while the model runs, and may stay off.

New here: `with torch.inference_mode():` is `no_grad` for a model in use: it saves even more, and there is no
`backward()` from what comes out of it.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def predict_classes(model: nn.Module, x: Float[Tensor, "rows features"]) -> Int[Tensor, " rows"]:
    raise NotImplementedError
