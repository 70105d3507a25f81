"""Read the error: "mat1 and mat2 shapes cannot be multiplied".

`mat1_and_mat2(features, classes)` builds a network with 20 hidden features. Its last layer expects another number, so
the first batch fails. Mend the last layer.

    mat1_and_mat2(8, 3)(torch.zeros(5, 8))
    # now:    RuntimeError: mat1 and mat2 shapes cannot be multiplied
    # (5x20 and 30x3)
    # wanted: a tensor of shape (5, 3)

New here: mat1 is what reaches the layer, 5 rows of 20 features; mat2 is the layer's weight, 30 features in and 3 out.
The two inner numbers must agree.
"""

from torch import nn


def mat1_and_mat2(features: int, classes: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(features, 20),
        nn.ReLU(),
        nn.Linear(30, classes),
    )
