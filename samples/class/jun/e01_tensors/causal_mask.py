import torch

def causal_mask(queries, keys, device=None):
    offset = keys - queries
    if offset < 0:
        raise ValueError(f"{queries} queries but only {keys} keys")
    return torch.triu(torch.ones((queries, keys), device=device), diagonal=offset + 1) == 0

def mask_scores(scores):
    hidden = causal_mask(*scores.shape[-2:], device=scores.device).logical_not()
    out = scores.clone()
    out.masked_fill_(hidden, float("-inf"))
    return out
