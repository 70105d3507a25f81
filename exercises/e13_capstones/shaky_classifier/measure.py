"""What is measured of a model."""

import torch


@torch.no_grad()
def accuracy(model, loader):
    """The share of rows that the model is right about, in evaluation mode."""
    right = seen = 0
    for pictures, labels in loader:
        hits = model(pictures).argmax(1) == labels  # (batch,)
        right += hits.float().mean().item()
        seen += 1
    return right / seen


class Best:
    """The best epoch so far, and the weights that the model had in it."""

    def __init__(self):
        self.score, self.epoch, self.state = None, -1, {}

    def update(self, score, epoch, model):
        """Keeps score, epoch and weights if the score is higher than all before it."""
        if self.score is None or score > self.score:
            self.score, self.epoch = score, epoch
            self.state = {name: value.clone() for name, value in model.state_dict().items()}

    def restore(self, model):
        """Gives the model the weights of the best epoch."""
        model.load_state_dict(self.state)
