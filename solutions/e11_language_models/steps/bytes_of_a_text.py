import torch
from jaxtyping import Int
from torch import Tensor


def bytes_of_a_text(text: str) -> Int[Tensor, "bytes"]:
    return torch.tensor(list(text.encode("utf-8")))  # (bytes,)
