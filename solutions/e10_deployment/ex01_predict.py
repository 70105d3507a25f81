"""Predictions for more rows than fit into memory at once, from a model that is afterwards as it was.

    model = torch.nn.Linear(1, 1)                       # with weight 2 and bias 1
    inputs = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]])
    predict(model, inputs, batch_size=2)                # runs on rows 0 and 1, then 2 and 3, then 4
    # tensor([[3.], [5.], [7.], [9.], [11.]])

Rules:
- Row i of the result is what the model, in evaluation mode, makes of row i of inputs. The model itself is
  called (`forward` skips hooks), on batch_size rows at a time, in order and each row once. The last batch is
  what is left, perhaps a single row. Where there are no rows, the model runs once, on the empty batch: so the
  empty result has the right shape and dtype.
- ValueError if batch_size is less than 1, before anything runs or changes.
- The model runs in `torch.inference_mode()`. The result is an ordinary tensor nevertheless: it can be changed
  in place, or be a target in training, where a tensor that was made in inference mode raises an error
  (`result.is_inference()` tells). It requires no gradient, and has memory of its own: a model may return its
  input.
- The inputs lie on the CPU, and so does the result. The model may be on another device: that of its first
  parameter, of its first buffer where it has no parameters, the CPU where it has neither. There is one copy
  to that device and one back for each batch: not all of the inputs fit there, nor do all results.
- When the model runs on a batch, nothing is held of those before but their rows of the result. (For a model
  that ends in `return hidden[:, -1]` such rows are a view, behind which all of hidden stays in memory.)
- When predict returns or an error from the model comes through, each layer has the mode that it had before,
  a frozen batch norm inside of a model in training as well; inference mode is left; nothing else has
  changed, neither inputs (some models work in place), weights and statistics nor `.grad` and requires_grad.
"""

from itertools import chain

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def predict(
    model: nn.Module, inputs: Shaped[Tensor, "rows *features"], batch_size: int = 64
) -> Shaped[Tensor, "rows *outputs"]:
    """What the model says about each row, in evaluation mode, batch by batch.

    Args:
        model: maps (batch, *features) to (batch, *outputs), in whatever dtypes.
        inputs: the rows, on the CPU.
        batch_size: the most rows in one call of the model.

    Returns:
        The results for all rows in order, in the dtype of the model's results, on the CPU.

    Raises:
        ValueError: batch_size is less than 1.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}: a batch holds at least one row")
    placed = next(chain(model.parameters(), model.buffers()), inputs)
    modes = [(layer, layer.training) for layer in model.modules()]
    parts = []
    try:
        model.eval()
        with torch.inference_mode():
            for batch in inputs.split(batch_size):  # of no rows: one empty batch
                outputs = model(batch.to(placed.device, copy=True))  # (batch, *outputs), perhaps in place
                parts.append(outputs.to("cpu", copy=True))  # a view would hold all of its base
                del outputs  # or it is there still while the model runs on the next batch
    finally:
        for layer, training in modes:  # one by one: model.train(training) would give all the same
            layer.training = training
    return torch.cat(parts)  # (rows, *outputs): outside of inference mode, so it is an ordinary tensor
