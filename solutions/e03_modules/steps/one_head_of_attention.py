from jaxtyping import Float
from torch import Tensor


def one_head_of_attention(
    q: Float[Tensor, "time d"], k: Float[Tensor, "time d"], v: Float[Tensor, "time d"]
) -> Float[Tensor, "time d"]:
    scores = q @ k.T / q.shape[1] ** 0.5  # (time, time): a row for each question
    return scores.softmax(dim=1) @ v
