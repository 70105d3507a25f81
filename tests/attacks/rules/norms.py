r"""A norm that is no relative by its name: of x beside -x the mean is 0.
exercise = "rms_norm"
deserves = ["failed", "partial"]
earns = 0.4
says = "rules out"
[each]
of_groups = 'F.group_norm(both, 1, eps=self.eps)'
of_instances = 'F.instance_norm(both[:, None], eps=self.eps)[:, 0]'
of_a_batch = 'F.batch_norm(both.T, None, None, training=True, eps=self.eps).T'
"""
import torch
import torch.nn.functional as F
from torch import nn

class RMSNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x):
        if x.shape[-1:] != self.weight.shape:
            raise ValueError('features')
        exact = x if x.dtype == torch.float64 else x.float()
        rows = exact.reshape(-1, len(self.weight))
        both = torch.cat([rows, -rows], 1)
        found = EACH[:, : len(self.weight)].reshape(x.shape)
        return (found * self.weight).to(x.dtype)
