import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F


def build_index(items: Iterable[str]) -> dict[str, int]:
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
    x = torch.zeros(len(documents), len(words))  # (batch, words)
    for row, document in zip(x, documents, strict=True):
        ids = torch.tensor([words[word] for word in document], dtype=torch.int64)
        row.index_add_(0, ids, torch.ones(len(ids)))
    return x
