"""All of it together: from a table of numbers to a classifier that holds up on rows it has never seen.

Sensors on a machine measure quantities in units of their own. Rows are labelled with the state that the machine was in:

    features, labels    # (384, 2) float32: temperatures of 300 ± 30, pressures of -0.002 ± 0.0004; (384,), sorted
    model, accuracy = fit((features, labels), (valid_features, valid_labels), classes=3, seed=0)
    accuracy                                     # say 0.99: of 100 validation rows, 99 are right
    model(new_features).argmax(-1)               # (rows,): the states of new rows

The classes are arms of a spiral, which two hidden layers of 50 units learn in a few hundred steps.

- At least 0.9 of new rows are right, with every seed.
- model is an nn.Module. It takes rows in their own units, and gives logits: (rows, classes).
- accuracy is the share of validation rows that the returned model gets right, a float.
- The same seed gives the same weights, whatever was drawn before; another seed gives others.

Fine print:
- A column may hold the same number in every row, or numbers of about 1e-6.
- The last batch of an epoch may hold a single row.
- model comes in evaluation mode: a row's logits depend on this row alone, and are the same at each call.
- Its state_dict holds all that it knows: a model that fit made of other rows predicts the same once it has loaded it.
- valid only measures. Many keep the epoch that does best on it; here not, since then the accuracy flatters.
- The global random streams of torch, NumPy and Python are afterwards where they were.
"""

from jaxtyping import Float, Int
from torch import Tensor, nn

Table = tuple[Float[Tensor, "rows features"], Int[Tensor, " rows"]]


def fit(train: Table, valid: Table, classes: int, seed: int) -> tuple[nn.Module, float]:
    """Train a classifier on `train`; return it and its accuracy on `valid`."""
    raise NotImplementedError
