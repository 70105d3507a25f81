"""Predictions for more rows than fit into memory at once.

A trained model shall answer a long table. Run it on batch_size rows at a time, in order, and join the results: row i is
what the model, in evaluation mode, makes of row i of inputs.

    model = torch.nn.Linear(1, 1)                       # with weight 2 and bias 1
    inputs = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]])
    predict(model, inputs, batch_size=2)                # runs on rows 0 and 1, then 2 and 3, then 4
    # tensor([[3.], [5.], [7.], [9.], [11.]])

- The last batch is what is left.
- No graph is recorded, and the result requires no gradient.
- Inputs and result lie on the CPU. The model may be elsewhere: its first parameter tells where.
- Rows and results may have any shape and dtype: tokens in, class numbers out.

Fine print:
- Afterwards, also after an error, each layer has the mode that it had before. (`model.train()`, as tutorials have it,
  does the job.)
- The model runs in `torch.inference_mode()`. The result is an ordinary tensor: join the parts outside of that mode.
- The result has memory of its own, and inputs stay as they are, even if the model works in place.
- Each batch goes to the device, and its results back, when it is its turn.
- Only rows of the result are kept: `hidden[:, -1]` is a view, behind which all of hidden stays in memory.
- Without rows the model runs once, on the empty batch: that gives shape and dtype.
"""

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def predict(
    model: nn.Module, inputs: Shaped[Tensor, "rows *features"], batch_size: int = 64
) -> Shaped[Tensor, "rows *outputs"]:
    """What the model says about each row, in evaluation mode, batch by batch."""
    raise NotImplementedError
