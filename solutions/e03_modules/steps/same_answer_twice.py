from jaxtyping import Float
from torch import Tensor, nn


def same_answer_twice(model: nn.Module, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows outputs"]:
    model.eval()
    predictions = model(x)
    model.train()
    return predictions
