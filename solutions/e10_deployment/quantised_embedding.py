import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class Int8Embedding(nn.Module):
    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        rows = table.weight.detach().float()  # (rows, features)
        smallest, largest = rows.aminmax(dim=1, keepdim=True)
        scale = (largest - smallest) / 255
        scale = torch.where(scale > 0, scale, 1.0)  # rows of one number
        whole = ((rows - smallest) / scale).round() - 128
        self.register_buffer("q", whole.clamp(-128, 127).to(torch.int8))
        self.register_buffer("scale", scale)
        self.register_buffer("smallest", smallest)

    def forward(self, indices: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape features"]:
        return (self.q[indices].float() + 128) * self.scale[indices] + self.smallest[indices]
