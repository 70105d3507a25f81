"""Metrics over an epoch that come in batch by batch, and must not depend on how the batches were cut.

A classifier is judged on two batches, of three examples and of one:

    metrics = RunningMetrics(classes=3)
    metrics.update(torch.tensor([[0.3, 0.2, 0.1], [0.0, 1.5, 0.2], [0.9, 0.1, 0.0]]), torch.tensor([1, 1, 2]))
    metrics.update(torch.tensor([[0.0, 2.0, 1.0]]), torch.tensor([1]))
    metrics.compute()
    # accuracy 0.5: two of four. loss 0.8576: (1.1019 + 0.4026 + 1.5184 + 0.4076) / 4.
    # macro_f1 0.2667: F1 is 4/5 for class 1 (predicted twice, a label three times), 0 for the others.

The code below gives accuracy 0.6667, and other numbers for another batch size. Mend it.

- All examples since the start, or `reset`, count as if they were one batch.
- The predicted class is the one with the largest logit; accuracy is the share of examples where it is the label.
- loss is the mean cross-entropy.
- F1 of a class: 2·hits / (how often it is predicted + how often it is the label); macro_f1 is the mean over classes.
- compute returns plain floats and changes nothing; updates may follow.

Fine print:
- A class that nobody predicted and no label names is left out of macro_f1, as in scikit-learn.
- Examples with the label -100 are padding: they count nowhere, whatever their logits are.
- logits may be (batch, time, classes), have other dimensions in front, or none; labels have the shape of these.
- A call may hold no example, or nothing but padding.
- Half precision is computed in float32; float64 keeps its digits; logits of 10,000 do no harm.
- Losses are summed in float64 or as Python floats: float32 forgets small ones beside a huge sum.
- Neither logits nor labels nor a graph are alive after update. They may lie on any device.
- ValueError: from update where shapes do not fit, which counts nothing; from compute where there is no example.
"""

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F


class RunningMetrics:
    """Loss, accuracy and macro-F1 over everything that was given to `update`."""

    def __init__(self, classes: int) -> None:
        """Start with nothing counted; logits have `classes` numbers for each example."""
        self.classes = classes
        self.reset()

    def reset(self) -> None:
        """Forget all examples."""
        self.batches: list[dict[str, Tensor]] = []

    def update(self, logits: Float[Tensor, "*batch classes"], labels: Int[Tensor, "*batch"]) -> None:
        """Count some examples; labels go from 0 to classes - 1."""
        predicted = logits.softmax(-1) > 0.5
        wanted = F.one_hot(labels, self.classes) > 0
        hits = (predicted & wanted).sum(0)
        f1 = 2 * hits / (predicted.sum(0) + wanted.sum(0))
        self.batches.append(
            {
                "loss": F.cross_entropy(logits, labels),
                "accuracy": (predicted & wanted).any(-1).float().mean(),
                "macro_f1": f1.nan_to_num().mean(),
            }
        )

    def compute(self) -> dict[str, float]:
        """The "loss", "accuracy" and "macro_f1" of all examples so far."""
        return {
            name: sum(batch[name] for batch in self.batches) / len(self.batches) for name in self.batches[0]
        }
