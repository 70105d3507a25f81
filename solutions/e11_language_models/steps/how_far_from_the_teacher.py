from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def how_far_from_the_teacher(
    student: Float[Tensor, "rows classes"], teacher: Float[Tensor, "rows classes"]
) -> Float[Tensor, ""]:
    log_q, log_p = student.log_softmax(dim=-1), teacher.log_softmax(dim=-1)  # (rows, classes)
    return F.kl_div(log_q, log_p, log_target=True, reduction="batchmean")
