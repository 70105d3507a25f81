"""Rewrite a graph: x * sigmoid(x) becomes silu(x).

`torch.fx` runs a model with stand-ins for tensors, and writes down a graph of calls that can be changed. This is how tools fuse
and quantise models whose code nobody wants to touch. Replace each product of a tensor and its own sigmoid, which makes two
tensors, by one call of `F.silu`:

    class Gated(nn.Module):
        def forward(self, x):
            return x * torch.sigmoid(x) + torch.sigmoid(x.exp()) * x

    print(fuse_silu(Gated()).code)    # silu(x) + sigmoid(exp(x)) * x: the second one is a gate of another kind

- The model is traced with `torch.fx.symbolic_trace`, and a `GraphModule` comes back.
- Any number of places, each as `x * torch.sigmoid(x)` or `torch.sigmoid(x) * x`.
- A product with the sigmoid of another tensor stays.
- Results and gradients stay, and parameters are those of the model, not copies.

Fine print:
- It may also be written with `x.sigmoid()`, `F.sigmoid`, a module `nn.Sigmoid`, `torch.mul` or `x.mul(…)`.
- A sigmoid that is used elsewhere as well stays, and its product is fused. One that is not is gone from the graph.
- The model itself computes what it did. Models that change tensors in place are not handed over.
"""

from torch import fx, nn


def fuse_silu(model: nn.Module) -> fx.GraphModule:
    """The traced model, with silu(x) for each x * sigmoid(x)."""
    raise NotImplementedError
