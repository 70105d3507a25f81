from collections.abc import Collection

import torch
from jaxtyping import Float, Int8
from torch import Tensor, nn


class Int8Linear(nn.Module):
    weight: Int8[Tensor, "out_features in_features"]
    scale: Float[Tensor, "out_features"]
    bias: Float[Tensor, "out_features"] | None

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.register_buffer("weight", torch.zeros(out_features, in_features, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(out_features, dtype=torch.float32))
        self.register_buffer("bias", torch.zeros(out_features, dtype=torch.float32) if bias else None)

    @classmethod
    def from_linear(cls, linear: nn.Linear) -> "Int8Linear":
        wide = linear.weight.detach().float()  # (out, in)
        if not wide.isfinite().all():
            raise ValueError("the weight holds NaN or inf")
        scale = wide.abs().amax(1) / 127 if wide.numel() else wide.new_zeros(len(wide))  # (out,)
        scale = scale.masked_fill(scale == 0, 1.0)
        layer = cls(linear.in_features, linear.out_features, linear.bias is not None)
        layer.weight = (wide / scale.unsqueeze(1)).round().clamp(-127, 127).to(torch.int8)
        layer.scale = scale
        if linear.bias is not None:
            layer.bias = linear.bias.detach().clone()
        return layer.train(linear.training)

    def forward(self, x: Float[Tensor, "*batch in_features"]) -> Float[Tensor, "*batch out_features"]:
        wide = (self.weight.float() * self.scale.unsqueeze(1)).to(x.dtype)  # (out, in), for this call only
        bias = None if self.bias is None else self.bias.to(x.dtype)
        return nn.functional.linear(x, wide, bias)


def quantize_linears(model: nn.Module, skip: Collection[str] = ()) -> nn.Module:
    modules = dict(model.named_modules(remove_duplicate=False))
    if unknown := set(skip) - modules.keys():
        raise ValueError(f"no layers of the model: {', '.join(sorted(unknown))}")
    kept = {id(module) for name in skip for module in modules[name].modules()}
    made: dict[int, Int8Linear] = {}
    places: list[tuple[str, nn.Module]] = []
    for name, module in modules.items():
        if type(module) is not nn.Linear or id(module) in kept:
            continue
        if id(module) not in made:
            made[id(module)] = Int8Linear.from_linear(module)
        places.append((name, made[id(module)]))
    for name, layer in places:
        if not name:
            return layer
        parent, _, last = name.rpartition(".")
        setattr(modules[parent], last, layer)
    return model
