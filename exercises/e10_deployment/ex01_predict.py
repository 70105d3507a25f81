"""Predictions for more rows than fit into memory at once.

A trained model shall answer a long table. Run it on batch_size rows at a time, in order, and put the results together:
row i of the result is what the model, in evaluation mode, makes of row i of inputs.

    model = torch.nn.Linear(1, 1)                       # with weight 2 and bias 1
    inputs = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]])
    predict(model, inputs, batch_size=2)                # runs on rows 0 and 1, then 2 and 3, then 4
    # tensor([[3.], [5.], [7.], [9.], [11.]])

- The last batch is what is left, perhaps a single row.
- No graph is recorded, and the result requires no gradient.
- Inputs lie on the CPU, and so does the result. The model may be on another device: its first parameter tells which.
- Rows and results may have any shape and dtype: tokens in, numbers of classes out.

Fine print:
- Afterwards, also after an error from the model, each layer has the mode that it had before: a frozen batch norm inside
  of a model in training as well. (`model.train()` at the end, as tutorials have it, does the job.)
- The model runs in `torch.inference_mode()`. The result is an ordinary tensor nevertheless, which can be changed in
  place and be a target in training: put it together outside of that mode.
- It has memory of its own (a model may return its input), and inputs stay as they are (a model may work in place).
- Each batch is copied to the device, and its results back, when it is its turn: not all of the inputs fit there.
- Only rows of the result are kept: `hidden[:, -1]` is a view, behind which all of hidden stays in memory.
- A model without parameters is where its first buffer is, and on the CPU if it has neither.
- Without rows the model runs once, on the empty batch: so the empty result has the right shape and dtype.
- batch_size below 1: ValueError, before anything runs. The model itself is called: `forward` skips hooks.
"""

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def predict(
    model: nn.Module, inputs: Shaped[Tensor, "rows *features"], batch_size: int = 64
) -> Shaped[Tensor, "rows *outputs"]:
    """What the model says about each row, in evaluation mode, batch by batch."""
    raise NotImplementedError
