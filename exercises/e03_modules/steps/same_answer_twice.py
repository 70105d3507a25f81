"""The same answer twice: dropout off, and on again.

While a model trains, its dropout layers set numbers to 0 at random, and each call gives something else.
Return the model's predictions for x without dropout. The model comes in training mode, and training goes on
afterwards: leave it in that mode.

    model = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5))
    same_answer_twice(model, x) == same_answer_twice(model, x)     # all True
    model.training                                                 # True

New here: `model.eval()` switches the model and all of its layers to evaluation mode, without dropout;
`model.train()` switches them back.
"""

from jaxtyping import Float
from torch import Tensor, nn


def same_answer_twice(model: nn.Module, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows outputs"]:
    raise NotImplementedError
