import torch

def as_vector(values, dtype=None):
    vector = torch.as_tensor(values, dtype=dtype).clone()
    if vector.dim() >= 2:
        raise ValueError("expected at most one dim")
    return vector.reshape(-1)
