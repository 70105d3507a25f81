import torch

def _parts(x, dim):
    y = x.movedim(dim, -1).double()
    peak = y.amax(-1, keepdim=True).clamp(min=-1e300)
    return torch.exp(y - peak), peak

def softmax(x, dim):
    e, _ = _parts(x, dim)
    return (e / e.sum(-1, keepdim=True).clamp(min=1e-30)).movedim(-1, dim).to(x.dtype)

def logsumexp(x, dim):
    e, peak = _parts(x, dim)
    total = e.sum(-1)
    safe = torch.where(total > 0, total, torch.ones_like(total))
    result = torch.where(total > 0, safe.log() + peak[..., 0], total - float("inf"))
    return result.to(x.dtype)
