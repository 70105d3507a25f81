"""Will it fit? What training takes of a GPU, known before the first step.

Add up the bytes that training with AdamW takes: up to five numbers for each parameter, and for each example all that
the backward pass needs.

    model = nn.Sequential(nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 10))       # 505510 parameters
    training_memory(model, batch=64, saved=1500, dtype=torch.bfloat16, master_weights=True)
    # {"parameters": 1011020, "gradients": 1011020, "master": 2022040, "optimizer": 4044080,
    #  "activations": 192000, "total": 8280160}: 2 + 2 + 4 + 2 · 4 bytes for each parameter
    largest_batch(model, saved=1500, budget=9_000_000, dtype=torch.bfloat16, master_weights=True)     # 303

- "parameters" and "gradients" are in dtype, whatever the model is in now; frozen parameters have no gradient.
- "master": with master_weights, a float32 copy of each trainable parameter, else 0.
- "optimizer": two moments of each trainable parameter, in float32 where there is a master, else in dtype.
- "activations": `saved` numbers for each example, in dtype. "total": all of these.
- `largest_batch`: the largest whose total is at most budget; 0 where not one example fits.

Fine print:
- Buffers count with the parameters: floating ones in dtype, integers in their own. A tied weight counts once.
- float32 and float64 need no master: master_weights changes nothing there.
- Plain ints, exact also for a model on "meta" that is too large for any machine.
- The model is not changed, and no memory is made for its numbers.
- A dtype that is not floating raises ValueError.
- The page under `reading` has gradients in float32: it is about autocast. Here the model itself is in dtype.
"""

import torch
from torch import nn


def training_memory(
    model: nn.Module, batch: int, saved: int, dtype: torch.dtype = torch.float32, master_weights: bool = False
) -> dict[str, int]:
    """The bytes by what they are for, and "total"; `saved` numbers are kept for each example."""
    raise NotImplementedError


def largest_batch(
    model: nn.Module,
    saved: int,
    budget: int,
    dtype: torch.dtype = torch.float32,
    master_weights: bool = False,
) -> int:
    """The largest batch that trains within `budget` bytes."""
    raise NotImplementedError
