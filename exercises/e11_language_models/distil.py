"""Distillation: a small model learns from all probabilities of a large one.

A teacher says more than the right token: it says which of the wrong ones come near. A student learns from both.
(Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", section 2.) At each position, with
p = softmax(teacher / T) and q = softmax(student / T) over the vocabulary:

    alpha * T² * sum(p * (log p - log q)) + (1 - alpha) * cross_entropy(student, target)

    teacher = torch.tensor([[[9.0, 1.0, 4.0], [1.0, 4.0, 1.0]]]).log()      # at T = 2: p = [1/2, 1/6, 1/3], …
    student = torch.tensor([[[1.0, 1.0, 4.0], [1.0, 1.0, 4.0]]]).log()      # q = [1/4, 1/4, 1/2], twice
    distillation_loss(student, teacher, torch.tensor([[0, 2]]), alpha=0.75)       # 0.7503
    distillation_loss(student, teacher, torch.tensor([[0, -100]]), alpha=0.75)    # 0.8795: 0.75 * 4 * 0.1438 + 0.25 * log 6

- The loss is the mean over positions, in both parts without those whose target is `ignore_index`.
- The temperature T softens teacher and student, in the first part alone.
- Gradients flow to student.

Fine print:
- teacher gets no gradient, also where it requires one.
- Logits of 1000 give a finite loss, and finite gradients: 0 * log 0 is NaN.
- Half precision is computed in float32 and rounded once, at the end. float64 stays float64.
- Any strides; the arguments stay as they are. One position counts at least.
- On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float, Int64
from torch import Tensor


def distillation_loss(
    student: Float[Tensor, "batch time vocab"],
    teacher: Float[Tensor, "batch time vocab"],
    targets: Int64[Tensor, "batch time"],
    temperature: float = 2.0,
    alpha: float = 0.5,
    ignore_index: int = -100,
) -> Float[Tensor, ""]:
    """The mean over positions of the loss against the teacher's logits and against the targets, 0-d."""
    raise NotImplementedError
