"""torch's private names that describing needs. Tried with torch 2.11 and 2.13."""

import torch

without_subclasses = torch._C.DisableTorchFunctionSubclass
"""A context in which no subclass's `__torch_function__` is asked."""
