import torch

def sample_top_k(logits, k, generator):
    vocab = logits.shape[-1]
    if k not in range(1, vocab + 1):
        raise ValueError("k must be in 1..vocab")
    ordered, ids = torch.sort(logits.to(torch.float64), dim=-1, descending=True)
    steps = torch.softmax(ordered[..., :k], -1).cumsum(-1)
    u = torch.rand(*logits.shape[:-1], 1, dtype=torch.float64, generator=generator) * steps[..., -1:]
    place = (steps <= u).sum(-1, keepdim=True).clamp(max=k - 1)
    return torch.take_along_dim(ids, place, -1)[..., 0]
