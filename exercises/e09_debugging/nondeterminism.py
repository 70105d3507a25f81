"""A training run that repeats, bit for bit.

"With seed 3 the model fails on the third batch." It does not when you try: no two runs of `train` are alike. Repair it:
the same arguments give the same losses and weights, whatever ran before.

    build_index(["spam", "ham", "spam"])                             # {"ham": 0, "spam": 1}
    zeros = lambda words, classes: linear                            # a Linear(2, 2, bias=False), all 0
    train([["a"], ["b"]], ["x", "y"], zeros, list, seed=0, lr=1.0)   # (linear, [0.6931, 0.4741])
    # one batch an epoch; the weights are [[0.25, -0.25], [-0.25, 0.25]] after the first

- make_model, its model and augment draw from the global streams of `random`, `np.random` and torch.
- Another seed gives another model, another order of the documents and other draws.
- Each epoch has an order of its own, and augments each document anew.
- build_index numbers the strings in sorted order: a set's differs from process to process.
- While the model runs, `torch.use_deterministic_algorithms` is on and `torch.backends.cudnn.benchmark` is off: GPUs
  add in any order.

Fine print:
- Afterwards the three global streams are where they were. (PyTorch's notes seed them for good, which does the job. But
  then your run changes the experiment after it.)
- So are these two settings, with warn_only, and any other that you touch, such as threads or environment variables.
- Both hold as well where make_model, the model or augment raises. The error passes through.
- make_model and augment also run with deterministic algorithms on, as errors: warn_only is off.
- The model is the one that make_model has made, in the modes that it gave its parts. The arguments stay as they are.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

_shuffler = np.random.default_rng(0)  # seeded, so that runs repeat


def build_index(items: Iterable[str]) -> dict[str, int]:
    """Number the distinct items, from 0."""
    return {item: number for number, item in enumerate(set(items))}


def train(
    documents: Sequence[list[str]],
    labels: Sequence[str],
    make_model: Callable[[int, int], nn.Module],
    augment: Callable[[list[str]], list[str]],
    *,
    seed: int,
    epochs: int = 2,
    batch_size: int = 4,
    lr: float = 0.1,
) -> tuple[nn.Module, list[float]]:
    """Train a classifier of documents, with all randomness from seed < 2**32; return it and the loss of each batch."""
    torch.backends.cudnn.benchmark = True  # the fastest kernels
    words = build_index(word for document in documents for word in document)
    classes = build_index(labels)
    model = make_model(len(words), len(classes))
    torch.manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(epochs):
        order = _shuffler.permutation(len(documents)).tolist()
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            x = _counts([augment(documents[i]) for i in chosen], words)
            loss = F.cross_entropy(model(x), torch.tensor([classes[labels[i]] for i in chosen]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return model, losses


def _counts(documents: list[list[str]], words: dict[str, int]) -> Tensor:
    """How often each word occurs in each document, (batch, words)."""
    x = torch.zeros(len(documents), len(words))
    for row, document in zip(x, documents, strict=True):
        ids = torch.tensor([words[word] for word in document], dtype=torch.int64)
        row.index_add_(0, ids, torch.ones(len(ids)))
    return x
