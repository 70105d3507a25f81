import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def predict(
    model: nn.Module, inputs: Shaped[Tensor, "rows *features"], batch_size: int = 64
) -> Shaped[Tensor, "rows *outputs"]:
    device = next(model.parameters()).device
    modes = [(layer, layer.training) for layer in model.modules()]
    parts = []
    try:
        model.eval()
        with torch.inference_mode():
            for batch in inputs.split(batch_size):  # of no rows: one empty batch
                outputs = model(batch.to(device, copy=True))  # (batch, *outputs), perhaps in place
                parts.append(outputs.to("cpu", copy=True))  # a view would hold all of its base
                del outputs  # or it is there still while the model runs on the next batch
    finally:
        for layer, training in modes:  # one by one: model.train(training) would give all the same
            layer.training = training
    return torch.cat(parts)  # (rows, *outputs): outside of inference mode, so it is an ordinary tensor
