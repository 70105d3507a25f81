"""python -m shaky_classifier.train [seed]: trains once, and prints what came of it."""

import sys

from .data import loaders, make, normalised, split
from .fit import fit
from .measure import accuracy
from .model import build


def run(seed=0, epochs=16, count=720):
    """A whole run; the history, and what the chosen model reaches on the test pictures."""
    parts = normalised(split(*make(count, seed=1), seed=seed))
    batches = loaders(parts, size=32, seed=seed)
    model = build(seed)
    best, history = fit(model, batches, epochs)
    return history, best, accuracy(model, batches["test"])


if __name__ == "__main__":
    history, best, test = run(int(sys.argv[1]) if sys.argv[1:] else 0)
    for epoch, (loss, score) in enumerate(history):
        print(f"epoch {epoch:2d}   loss {loss:.3f}   validation {score:.3f}")
    print(f"best validation {best.score:.3f} in epoch {best.epoch}; test {test:.3f}")
