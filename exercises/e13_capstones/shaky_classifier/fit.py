"""Training: an epoch, and all of them."""

import torch
from torch.nn import functional as F

from .measure import Best, accuracy


def train_epoch(model, loader, optimizer, scheduler):
    """One pass over the loader, in training mode; the mean loss of a row."""
    total = seen = 0
    for pictures, labels in loader:
        loss = F.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
        seen += len(labels)
    scheduler.step()
    return total / seen


def fit(model, loaders, epochs, rate=0.02, patience=6):
    """Trains until `patience` epochs were no better; the model ends with the weights of the best one."""
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    best, history = Best(), []
    for epoch in range(epochs):
        loss = train_epoch(model, loaders["train"], optimizer, scheduler)
        score = accuracy(model, loaders["valid"])
        best.update(score, epoch, model)
        history.append((loss, score))
        if epoch - best.epoch >= patience:
            break
    best.restore(model)
    return best, history
