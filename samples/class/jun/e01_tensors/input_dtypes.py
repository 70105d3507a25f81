import torch

def model_inputs(token_ids, features, mask):
    try:
        torch.iinfo(token_ids.dtype)
    except TypeError:
        raise TypeError("ids") from None
    return (
        torch.as_tensor(token_ids, dtype=torch.long),
        torch.as_tensor(features, dtype=torch.float32),
        torch.as_tensor(mask, dtype=torch.bool).view_as(mask),
    )
