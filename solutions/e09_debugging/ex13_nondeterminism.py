"""A training run that repeats, bit for bit.

"With seed 3 the model fails on the third batch." It does not when you try. `train` has its seed, and yet no
two runs are alike: the second one in a process differs from the first, the next process numbers the words in
another way, and somebody else's experiment changes when yours runs before it. Repair it.

    build_index(["spam", "ham", "spam"])                             # {"ham": 0, "spam": 1}
    zeros = lambda words, classes: linear                            # a Linear(2, 2, bias=False), all 0
    train([["a"], ["b"]], ["x", "y"], zeros, list, seed=0, lr=1.0)   # (linear, [0.6931, 0.4741])
    # one batch an epoch; the weights are [[0.25, -0.25], [-0.25, 0.25]] after the first

Rules:
- Runs with the same arguments give the same bits, in the losses and in the model's tensors: whatever ran
  before in this process, in another process (where strings hash otherwise), and whatever state the global
  random streams are in.
- make_model, its model and augment are other people's code: they draw from the global streams of `random`,
  `np.random` and torch. All that they draw depends on the seed, and so does the order of the documents.
  Another seed gives another initial model, another order and other augmentations.
- Each epoch goes through all documents in an order of its own, and augments each of them anew.
- Afterwards the global streams are as they were before the call.
- On a GPU, adding with atomic operations gives other last bits each time, and cuDNN picks its kernels by a
  stopwatch. While make_model and the training run (forward, backward, augment),
  `torch.use_deterministic_algorithms` is on, as errors and not as warnings, and
  `torch.backends.cudnn.benchmark` is off. Afterwards these settings are what they were before, and so is any
  other that you touch (`cudnn.deterministic`, the number of threads, environment variables).
- All this is put back also if make_model, the model or augment raises; their errors pass through.
- build_index takes any iterable and numbers the distinct strings in sorted order: words of all documents,
  and labels.
- The rest stays: SGD on the mean cross-entropy of word counts, a loss for each batch, in order, as a float;
  the last batch may be smaller. The result holds the model that make_model has made, in the modes that it
  gave its parts. The arguments are not changed. 0 epochs make a model and train nothing.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F


def build_index(items: Iterable[str]) -> dict[str, int]:
    """Number the distinct items, from 0."""
    return {item: number for number, item in enumerate(sorted(set(items)))}


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
    """Train a classifier of documents.

    Args:
        documents: the words of each document.
        labels: the label of each document.
        make_model: makes a model that maps word counts (batch, words) to logits (batch, classes), from the
            numbers of words and of classes.
        augment: gives some of the words of a document.
        seed: where all randomness comes from, 0 <= seed < 2**32.
        epochs: how many times to go through the documents.
        batch_size: how many documents make a batch.
        lr: the learning rate.

    Returns:
        The model, and the loss of each batch.
    """
    words = build_index(word for document in documents for word in document)
    classes = build_index(labels)
    losses = []
    with _repeatable(seed):
        model = make_model(len(words), len(classes))
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        for _ in range(epochs):
            order = torch.randperm(len(documents)).tolist()
            for start in range(0, len(order), batch_size):
                chosen = order[start : start + batch_size]
                x = _counts([augment(documents[i]) for i in chosen], words)  # (batch, words)
                loss = F.cross_entropy(model(x), torch.tensor([classes[labels[i]] for i in chosen]))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
    return model, losses


@contextmanager
def _repeatable(seed: int) -> Iterator[None]:
    """Seed all global streams and compute deterministically within the block; then put everything back."""
    python, numpy, benchmark = random.getstate(), np.random.get_state(), torch.backends.cudnn.benchmark
    strict = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    with torch.random.fork_rng():  # torch's streams, those of GPUs too
        try:
            random.seed(seed)
            np.random.seed(seed)
            torch.manual_seed(seed)
            torch.use_deterministic_algorithms(True)
            torch.backends.cudnn.benchmark = False
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)
            torch.use_deterministic_algorithms(strict, warn_only=warn_only)
            torch.backends.cudnn.benchmark = benchmark


def _counts(documents: list[list[str]], words: dict[str, int]) -> Tensor:
    """How often each word occurs in each document, (batch, words)."""
    x = torch.zeros(len(documents), len(words))
    for row, document in zip(x, documents, strict=True):
        ids = torch.tensor([words[word] for word in document], dtype=torch.int64)
        row.index_add_(0, ids, torch.ones(len(ids)))
    return x
