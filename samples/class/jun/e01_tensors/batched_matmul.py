import torch

def scores(query, key):
    lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    q = query.expand(*lead, *query.shape[-2:]).flatten(0, len(lead) - 1) if lead else query[None]
    k = key.expand(*lead, *key.shape[-2:]).flatten(0, len(lead) - 1) if lead else key[None]
    return torch.bmm(q, k.transpose(1, 2)).reshape(*lead, query.shape[-2], key.shape[-2])

def outer(left, right):
    return torch.matmul(left[..., :, None], right[..., None, :])

def bilinear(left, weight, right):
    halfway = torch.tensordot(left, weight, dims=([-1], [1]))
    return (halfway @ right[..., None]).squeeze(-1)
