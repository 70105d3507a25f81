"""How big is this model? Count its parameters and its bytes.

Before you rent a GPU: count the numbers in a model's parameters, those that train, and the bytes of all its
parameters and buffers.

    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    model[0].bias.requires_grad_(False)
    count_parameters(model)       # {"total": 24, "trainable": 20, "bytes": 136}

The linear layer has 12 weights and 4 biases, the batch norm 4 and 4; the frozen biases do not train. 24
float32 numbers take 96 bytes. The buffers take memory too: running mean and variance 16 bytes each, the int64
counter 8.

- Modules inside of modules count, too.
- "trainable" are the parameters that require a gradient.
- Each tensor takes the bytes of its own dtype: models mix them.
- A weight that two layers share (`head.weight = embedding.weight`) counts once.

Fine print:
- The values are plain Python ints.
- Buffers that are not saved take bytes too; a buffer with two names counts once.
- Equal numbers in two tensors count twice, and so do two views of one tensor.
- Nothing is read, copied or changed: a model on "meta", which has sizes but no memory, counts the same.
"""

from torch import nn


def count_parameters(model: nn.Module) -> dict[str, int]:
    """{"total": numbers, "trainable": numbers that require a gradient, "bytes": bytes with all buffers}."""
    raise NotImplementedError
