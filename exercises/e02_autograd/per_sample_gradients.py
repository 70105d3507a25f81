"""A gradient for each sample, and the mean of what is left of them.

Training with privacy must not depend much on any one sample: DP-SGD cuts the gradient of each down to a norm before it
takes the mean (Abadi et al. 2016). backward() only gives the mean, and a loop over samples is slow. `torch.func` makes a
function of parameters and one sample, differentiates it, and maps it over a batch.

    model = nn.Linear(2, 1, bias=False)       # weight [[1, 0]], so that it gives 1 and 3
    x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.0], [1.0]])
    grads = per_sample_gradients(model, nn.functional.mse_loss, x, y)      # {"weight": [[[2, 4]], [[12, 16]]]}
    clipped_mean(grads, max_norm=10.0)        # {"weight": [[4, 6]]}: norms 4.47 and 20, so [12, 16] is halved

- The loss of sample i is loss(model(x[i:i+1]), y[i:i+1]).
- No loop over samples. Gradients go by the names of the parameters, samples along dimension 0.
- The norm of a sample is that of its gradients for all parameters together. What is shorter than max_norm stays.

Fine print:
- Parameters that are frozen have no entry.
- Dropout in training mode draws for each sample anew.
- Results carry no graph, no `.grad` changes, and gradients may be switched off. max_norm may be infinite.
- A sample whose gradient is 0 counts as 0, not NaN.
- float64 stays float64.
"""

from collections.abc import Callable

from torch import Tensor, nn


def per_sample_gradients(
    model: nn.Module, loss: Callable[[Tensor, Tensor], Tensor], x: Tensor, y: Tensor
) -> dict[str, Tensor]:
    """The gradients of all samples, (batch, *shape of the parameter)."""
    raise NotImplementedError


def clipped_mean(grads: dict[str, Tensor], max_norm: float) -> dict[str, Tensor]:
    """The mean over the samples, each scaled down to max_norm where it is longer."""
    raise NotImplementedError
