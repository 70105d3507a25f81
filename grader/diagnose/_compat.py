"""torch's private names that describing needs. Tried with torch 2.11 and 2.13."""

import torch

without_subclasses = torch._C.DisableTorchFunctionSubclass
"""A context in which no subclass's `__torch_function__` is asked."""


def registered(module: torch.nn.Module) -> dict[str, object]:
    """What stands in a module by itself, None included; no code of its class is run for it."""
    return {**module._parameters, **module._buffers, **module._modules}
