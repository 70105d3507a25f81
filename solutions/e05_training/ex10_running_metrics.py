"""Metrics over an epoch that come in batch by batch, and must not depend on how the batches were cut.

A classifier is judged on two batches, of three examples and of one. `update` is called on each, then
`compute`:

    metrics = RunningMetrics(classes=3)
    metrics.update(torch.tensor([[0.3, 0.2, 0.1], [0.1, 0.5, 0.2], [0.9, 0.1, 0.0]]), torch.tensor([0, 1, 0]))
    metrics.update(torch.tensor([[0.0, 2.0, 1.0]]), torch.tensor([2]))
    metrics.compute()
    # accuracy 0.75: three of four. loss 0.977: (1.0019 + 0.8801 + 0.6184 + 1.4076) / 4.
    # macro_f1 0.5556: F1 is 1 for class 0, 2/3 for class 1 (found once, claimed twice), 0 for class 2.

With the code below the same four examples give accuracy 0.1667, and other numbers for another batch size.

Rules:
- The results are those of all examples since the start (or `reset`) taken as one batch: however they are cut
  into calls of update, and whether compute is called in between, which changes nothing.
- The predicted class is the one with the largest logit (the first, where several are equal). accuracy is the
  share of examples where it is the label.
- loss is the mean cross-entropy of the examples. It is finite for finite logits, also of size 10,000. In
  float64 it keeps its digits; half-precision logits are computed in float32. Sums are kept in float64 or
  Python floats, counts in these or in integers: float32 counts no further than 2²⁴.
- F1 of a class is 2·TP / (2·TP + FP + FN), where TP, FP, FN are the numbers of examples rightly given this
  class, wrongly given it, and wrongly given another one. macro_f1 is the mean over the classes that occur
  among labels or predictions, all of equal weight; a class that occurs in neither is left out of the mean.
- logits may have any leading dimensions, or none; classes are in the last one, and labels (int64) have the
  shape of the others. Every label is one example. Examples with the label -100 are padding and count nowhere,
  whatever their logits are. A call may hold no examples; it counts as nothing.
- ValueError if the last dimension of logits is not `classes`, or the others are not the shape of labels
  (nothing is counted then), and from compute if there is no example so far.
- Nothing of the caller's is changed or kept: no graph is alive, no tensor is held on to, after update. Logits
  may lie on any device, and update may run in inference mode. Objects are independent. compute returns a new
  dict of three plain floats.
"""

import torch
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
        self.loss = 0.0
        self.counts = torch.zeros(self.classes, self.classes, dtype=torch.int64)  # label, predicted

    @torch.no_grad()
    def update(self, logits: Float[Tensor, "*batch classes"], labels: Int[Tensor, "*batch"]) -> None:
        """Count some examples.

        Args:
            logits: (*batch, classes), any floating dtype.
            labels: (*batch), each from 0 to classes - 1, or -100 for padding.

        Raises:
            ValueError: the shapes do not fit.
        """
        if logits.dim() == 0 or logits.shape[-1] != self.classes or logits.shape[:-1] != labels.shape:
            shapes = f"{tuple(logits.shape)} and {tuple(labels.shape)}"
            raise ValueError(f"want logits (*batch, {self.classes}) and labels (*batch), got {shapes}")
        logits, labels = logits.reshape(-1, self.classes), labels.reshape(-1)  # (examples, classes)
        real = labels != -100
        logits, labels = logits[real], labels[real]
        if logits.dtype in (torch.float16, torch.bfloat16):
            logits = logits.float()
        self.loss += F.cross_entropy(logits, labels, reduction="none").cpu().double().sum().item()
        cells = labels * self.classes + logits.argmax(-1)  # (examples,), one number for label and predicted
        counts = torch.bincount(cells, minlength=self.classes**2).cpu()
        self.counts += counts.view(self.classes, self.classes)

    def compute(self) -> dict[str, float]:
        """The metrics of all examples so far.

        Returns:
            "loss", "accuracy" and "macro_f1".

        Raises:
            ValueError: there are no examples.
        """
        examples = int(self.counts.sum())
        if examples == 0:
            raise ValueError("there are no examples to compute metrics of")
        hits = self.counts.diagonal().double()  # (classes,)
        both = (self.counts.sum(0) + self.counts.sum(1)).double()  # 2·TP + FP + FN
        occurs = both > 0
        return {
            "loss": self.loss / examples,
            "accuracy": hits.sum().item() / examples,
            "macro_f1": (2 * hits[occurs] / both[occurs]).mean().item(),
        }
