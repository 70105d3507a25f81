import torch
from jaxtyping import Float
from torch import Tensor


def learn_from_reward(
    scores: Float[Tensor, "machines"], rewards: Float[Tensor, "machines"]
) -> tuple[int, Float[Tensor, ""]]:
    machine = int(torch.multinomial(torch.softmax(scores, dim=0), 1))
    log_p = torch.log_softmax(scores, dim=0)[machine]  # ()
    return machine, -log_p * rewards[machine]
