import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn


class TiedModel(nn.Module):
    def __init__(self, vocab: int, dim: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.body = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.embed.weight  # (vocab, dim)

    def forward(self, ids: Int64[Tensor, "*shape"]) -> Float[Tensor, "*shape vocab"]:
        return self.head(self.body(self.embed(ids)).relu())

    def grow(self, vocab: int) -> None:
        old = self.embed.weight.detach()
        if vocab < len(old):
            raise ValueError(f"{len(old)} tokens cannot shrink to {vocab}")
        if vocab == len(old):
            return
        new = old.mean(0).expand(vocab - len(old), -1)  # (added, dim)
        both = nn.Parameter(torch.cat([old, new]), self.embed.weight.requires_grad)
        self.embed.weight = self.head.weight = both
        self.embed.num_embeddings = self.head.out_features = vocab
