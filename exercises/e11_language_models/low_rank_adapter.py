"""LoRA: train two thin matrices, and leave the layer alone.

Fine-tuning all weights of a large model takes more memory than most people have. Here a trained `nn.Linear` stays as
it is, and the product of two small matrices is learned on top. (Hu et al. 2021, "LoRA", equation 3.)

    y = linear(x) + alpha / rank * lora_b(lora_a(x))

    layer = LoRALinear(nn.Linear(2, 1, bias=False), rank=1, alpha=2.0)    # linear.weight is [[1, 2]]
    # after training lora_a.weight is [[1, 1]] and lora_b.weight [[0.5]]:
    layer(torch.tensor([3.0, 4.0]))       # [18]: 11 + 2 / 1 * 0.5 * 7
    layer.merge()                         # linear.weight is [[2, 3]] now, and layer(x) still [18]

- Beside `linear`, `lora_a` and `lora_b` are nn.Linear without a bias, of in_features to rank and rank to out_features.
- At first lora_b's weight is 0 and lora_a's random, so that nothing changes; only these two train.
- `merge()` adds the product to linear.weight, `unmerge()` takes it off: y stays the same. Once more, they do nothing.
- `adapter_state(model)` is the part of `model.state_dict()` that belongs to adapters.

Fine print:
- Gradients flow to x as well.
- lora_a and lora_b have the dtype and the device of linear.weight.
- merge and unmerge change linear.weight in place: it stays the same parameter, which requires no gradient.
- What trained after `unmerge()` counts in the next `merge()`.
- x stays as it is. On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float
from torch import Tensor, nn


class LoRALinear(nn.Module):
    """A linear layer that is frozen, and a low-rank update that trains."""

    def __init__(self, linear: nn.Linear, rank: int, alpha: float = 16.0) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*shape inputs"]) -> Float[Tensor, "*shape outputs"]:
        """The layer's output for x, (*shape, in_features), with the update."""
        raise NotImplementedError

    def merge(self) -> None:
        """Put the update into linear.weight, so that a call costs what linear costs."""
        raise NotImplementedError

    def unmerge(self) -> None:
        """Take the update out of linear.weight."""
        raise NotImplementedError


def adapter_state(model: nn.Module) -> dict[str, Tensor]:
    """The weights of all lora_a and lora_b in the model, by their names in its state dict."""
    raise NotImplementedError
