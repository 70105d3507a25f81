"""Will it fit? What training takes of a card with 6 GB, known before the first step.

For each parameter lie up to five numbers in memory, and for each example all that the backward pass needs:

    model = nn.Sequential(nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 10))       # 505510 parameters
    training_memory(model, batch=64, saved=1500, dtype=torch.bfloat16, master_weights=True)

    {"parameters": 1011020, "gradients": 1011020, "optimizer": 4044080, "master": 2022040,
     "activations": 192000, "total": 8280160}

    largest_batch(model, saved=1500, budget=9_000_000, dtype=torch.bfloat16, master_weights=True)     # 303

A bfloat16 model with AdamW on float32 master weights: 2 bytes for each weight, 2 for its gradient, 4 for its
master, twice 4 for the moments. These 16 bytes are what float32 without a master takes as well: what 16 bits
save are activations (here 1000 inputs of the first layer and 500 of the second), and time.

Rules:
- A dict with exactly these keys, and plain Python ints: bytes.
- "parameters": all parameters and all buffers, saved or not, of the model as `model.to(dtype)` would leave
  it: floating ones in dtype, integer and boolean ones in their own. They are in any of these dtypes before.
- "gradients": one for each trainable parameter, in dtype.
- "master": a float32 copy of each trainable parameter, where master_weights is asked for and dtype has
  fewer than 32 bits. Else 0: the optimizer moves the parameters themselves.
- "optimizer": "sgd" keeps nothing, "momentum" one number for each trainable parameter, "adamw" two. They have
  the dtype of what the optimizer moves: float32 where there is a master, else dtype. (Step counters, a few
  bytes for each tensor, are left out.)
- "activations": `saved` numbers for each example of the batch, in dtype. "total": the sum of the others.
- Trainable is what requires a gradient. Each parameter and buffer counts once, however many names it has.
- `largest_batch` is the largest batch with a total of at most budget, and 0 where not one example fits. A
  card sold with 6 GB has 6 · 1024³ bytes.
- The model is not changed, and no memory is made for its numbers: it may lie on "meta", too large for any
  machine.

Bad input: ValueError for another optimizer, a dtype that is not floating, a negative batch or saved, and in
largest_batch for a saved of 0.
"""

import torch
from torch import nn

STATES = {"sgd": 0, "momentum": 1, "adamw": 2}


def training_memory(
    model: nn.Module,
    batch: int,
    saved: int,
    dtype: torch.dtype = torch.float32,
    optimizer: str = "adamw",
    master_weights: bool = False,
) -> dict[str, int]:
    """The bytes that training takes, by what they are for.

    Args:
        model: what is to be trained, on any device.
        batch: the number of examples in a step.
        saved: how many numbers the forward pass keeps for the backward pass, for each example.
        dtype: what parameters, gradients and activations are kept in.
        optimizer: "sgd", "momentum" or "adamw".
        master_weights: whether the optimizer moves float32 copies where dtype is narrower.

    Returns:
        {"parameters", "gradients", "optimizer", "master", "activations", "total"}

    Raises:
        ValueError: an unknown optimizer, a dtype that is not floating, a negative batch or saved.
    """
    if optimizer not in STATES:
        raise ValueError(f"optimizer must be one of {', '.join(STATES)}, not {optimizer!r}")
    if not dtype.is_floating_point:
        raise ValueError(f"dtype must be floating, not {dtype}")
    if batch < 0 or saved < 0:
        raise ValueError(f"batch and saved must not be negative, but are {batch} and {saved}")
    tensors = [*model.parameters(), *model.buffers()]  # each tensor once
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    has_master = master_weights and dtype.itemsize < 4
    moved = torch.float32 if has_master else dtype
    table = {
        "parameters": sum(t.numel() * (dtype if t.is_floating_point() else t).itemsize for t in tensors),
        "gradients": trainable * dtype.itemsize,
        "optimizer": trainable * STATES[optimizer] * moved.itemsize,
        "master": trainable * 4 if has_master else 0,
        "activations": batch * saved * dtype.itemsize,
    }
    return {**table, "total": sum(table.values())}


def largest_batch(
    model: nn.Module,
    saved: int,
    budget: int = 6 * 1024**3,
    dtype: torch.dtype = torch.float32,
    optimizer: str = "adamw",
    master_weights: bool = False,
) -> int:
    """The largest batch that trains within the budget.

    Args:
        model: what is to be trained, on any device.
        saved: how many numbers the forward pass keeps for the backward pass, for each example, 1 or more.
        budget: the bytes to be had.
        dtype: what parameters, gradients and activations are kept in.
        optimizer: "sgd", "momentum" or "adamw".
        master_weights: whether the optimizer moves float32 copies where dtype is narrower.

    Returns:
        The number of examples, 0 where the model alone does not fit or leaves too little.

    Raises:
        ValueError: as for training_memory, and where saved is 0.
    """
    if saved == 0:
        raise ValueError("saved must be 1 or more: without activations, any batch fits or none")
    none, one = (training_memory(model, n, saved, dtype, optimizer, master_weights) for n in (0, 1))
    return max(0, budget - none["total"]) // one["activations"]
