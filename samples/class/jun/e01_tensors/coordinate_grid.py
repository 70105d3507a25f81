import torch

def line(n, aligned, dtype, device):
    step = 2 / max(n - 1, 1) if aligned else 2 / max(n, 1)
    start = -1.0 if aligned else -1 + step / 2
    if n == 1:
        start = 0.0
    return torch.full((n,), step, dtype=torch.float64, device=device).cumsum(0).sub(step).add(start).to(dtype or torch.get_default_dtype())

def coordinate_grid(height, width, *, align_corners=False, dtype=None, device=None):
    x = line(width, align_corners, dtype, device)[None, :].expand(height, width)
    y = line(height, align_corners, dtype, device)[:, None].expand(height, width)
    return torch.cat([x[..., None], y[..., None]], -1)

def identity_transforms(images):
    kwargs = {"device": images.device, **({"dtype": images.dtype} if images.is_floating_point() else {})}
    return torch.stack([torch.tril(torch.triu(torch.ones(2, 3, **kwargs)))] * 1).repeat(images.shape[0], 1, 1)
