from torch import nn


def count_parameters(model: nn.Module) -> dict[str, int]:
    parameters, buffers = list(model.parameters()), list(model.buffers())  # each object once
    return {
        "total": sum(p.numel() for p in parameters),
        "trainable": sum(p.numel() for p in parameters if p.requires_grad),
        "bytes": sum(t.numel() * t.element_size() for t in parameters + buffers),
    }
