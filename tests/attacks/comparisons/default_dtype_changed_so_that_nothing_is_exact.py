"""Default dtype changed so that nothing is exact."""
import torch
torch.set_default_dtype(torch.float16)
