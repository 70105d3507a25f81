"""Fold batch norm into the convolution before it.

In evaluation a batch norm multiplies each channel by a number and adds one, and so can the convolution before it: a layer
less to run. `fold` makes that convolution, `fold_all` all of a model.

    weight' = weight * gamma / sqrt(running_var + eps)              # gamma, beta: weight and bias of the norm
    bias'   = (bias - running_mean) * gamma / sqrt(running_var + eps) + beta

    conv, norm = nn.Conv2d(1, 1, 1, bias=False), nn.BatchNorm2d(1, eps=0.0)
    # say that conv.weight is 3, running_mean 4, running_var 0.25, gamma 1, beta 0
    folded = fold(conv, norm)                    # weight 3 / 0.5 = 6, bias -4 / 0.5 = -8

- The convolution has the stride, padding, dilation, groups and padding_mode of conv, and a bias.
- `fold` leaves both layers as they are.
- `fold_all` returns a copy of the model. In each nn.Sequential of it, at any depth, a Conv2d right before a BatchNorm2d
  is folded, and an nn.Identity stands where the norm was.
- Other layers stay, and so does the model. What comes back is in evaluation mode, and computes what model.eval() does.

Fine print:
- A norm with affine=False has neither gamma nor beta.
- Sums are in float32 at least, where the weights are in half precision; the folded layer has conv's dtype and device.
- A norm without running statistics (track_running_stats=False) can't be folded: `fold` raises ValueError, `fold_all` lets it
  stand.
"""

from torch import nn


def fold(conv: nn.Conv2d, norm: nn.BatchNorm2d) -> nn.Conv2d:
    """A convolution that computes what norm, in evaluation mode, makes of conv's result."""
    raise NotImplementedError


def fold_all(model: nn.Module) -> nn.Module:
    """A copy of the model, in evaluation mode, with all batch norms folded that follow a convolution."""
    raise NotImplementedError
