"""How far from the teacher: `F.kl_div`.

A small model, the student, learns to say what a large one says. How far its probabilities q are from the teacher's p
is their KL divergence, the sum of p · (log p - log q) over a row. Return the mean over the rows.

    student, teacher = torch.tensor([[0.0, 0.0]]), torch.tensor([[0.0, 2.0]])
    how_far_from_the_teacher(student, teacher)      # tensor(0.3279)

New here: `F.kl_div(log_q, log_p, log_target=True, reduction="batchmean")` takes logarithms, the student's first;
"batchmean" divides by the rows, "mean" by all numbers.
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def how_far_from_the_teacher(
    student: Float[Tensor, "rows classes"], teacher: Float[Tensor, "rows classes"]
) -> Float[Tensor, ""]:
    raise NotImplementedError
