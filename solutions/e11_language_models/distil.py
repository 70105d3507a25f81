import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


def distillation_loss(
    student: Float[Tensor, "batch time vocab"],
    teacher: Float[Tensor, "batch time vocab"],
    targets: Int64[Tensor, "batch time"],
    temperature: float = 2.0,
    alpha: float = 0.5,
    ignore_index: int = -100,
) -> Float[Tensor, ""]:
    wide = torch.promote_types(student.dtype, torch.float32)
    own, other = student.to(wide), teacher.detach().to(wide)
    log_q = F.log_softmax(own / temperature, -1)
    log_p = F.log_softmax(other / temperature, -1)
    apart = F.kl_div(log_q, log_p, reduction="none", log_target=True).sum(-1)  # (batch, time)
    counted = targets != ignore_index
    soft = temperature**2 * (apart * counted).sum() / counted.sum()  # ()
    hard = F.cross_entropy(own.flatten(0, 1), targets.flatten(), ignore_index=ignore_index)
    return (alpha * soft + (1 - alpha) * hard).to(student.dtype)
