"""Copy the weights: `state_dict`.

Models a and b have the same layers. Give b all that a has learned, and return the names in the state dict of
a, as a list. Later training of a must not change b.

    a, b = nn.Linear(3, 2), nn.Linear(3, 2)
    copy_the_weights(a, b)           # ["weight", "bias"]
    (a.weight == b.weight).all()     # tensor(True)

New here: `a.state_dict()` is a dict of all parameters and buffers by name; `b.load_state_dict(state)` copies
such a dict into b; no further copy is needed.
"""

from torch import nn


def copy_the_weights(a: nn.Module, b: nn.Module) -> list[str]:
    raise NotImplementedError
