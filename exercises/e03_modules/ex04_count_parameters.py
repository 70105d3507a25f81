"""How big is this model? Count its parameters and its bytes.

    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    model[0].bias.requires_grad_(False)
    count_parameters(model)

    {"total": 24, "trainable": 20, "bytes": 136}

Linear holds 12 weights and 4 biases, the batch norm 4 and 4. The frozen biases do not train. 24 float32
parameters take 96 bytes. The buffers are no parameters but take memory too: running mean and variance
16 bytes each, the int64 counter 8.

Rules:
- A dict with exactly these three keys, and plain Python ints.
- "total": the numbers in all parameters of the model and of all that it contains. "trainable": those that
  require a gradient, whatever mode the model is in, and whether or not they have one.
- "bytes": the bytes of the numbers in all parameters and all buffers, also of buffers that are not saved.
  Each by its own dtype: models mix them. A view of a larger tensor counts with its own numbers only.
  Gradients do not count, nor tensors that are not registered.
- Each parameter and buffer counts once, however many names it has: an output layer tied to its embedding
  (`head.weight = embedding.weight`), or one layer that stands in two places. What counts is that it is
  the same tensor object: equal numbers in two tensors count twice. No parameter is a buffer as well.
- A 0-d parameter is one number, an empty one none. Parameters and buffers that are None count nothing, and
  so does a model without any.
- Nothing is read, copied or changed, so it is quick on every device, and works for a model on "meta",
  which has sizes but no memory. On "meta", "bytes" is what the numbers would take.
"""

from torch import nn


def count_parameters(model: nn.Module) -> dict[str, int]:
    """The size of a model.

    Args:
        model: any module, on any device.

    Returns:
        {"total": numbers, "trainable": numbers that require a gradient, "bytes": bytes with all buffers}
    """
    raise NotImplementedError
