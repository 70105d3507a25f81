"""Every class as often: draw examples of rare classes more often.

One scan in a hundred shows a tumour, and a network that never says so is right in 99 of 100. Draw training examples so that
each class comes as often as another. Write the chance of each example, and a loader that draws by it:

    sample_weights(torch.tensor([0, 0, 0, 2]))
    # [1/6, 1/6, 1/6, 1/2]: two classes of 1/2 each, that of class 0 shared by three
    loader = balanced_loader(dataset, labels, batch_size=8, seed=1)
    # as many examples in an epoch as dataset has, drawn with replacement

- All classes that are there get the same share, and all examples of a class as well. The weights sum to 1.
- A loop draws anew; an example may come several times, and another never.
- The same seed gives the same batches, loop by loop, and another seed others.

Fine print:
- Labels may be any integers, negative and large ones too (up to 2**60), in any integer dtype, as a tensor, list or array.
- The weights are float64, on the CPU: in float32 many of them do not sum to 1.
- Of no labels, there are no weights.
- torch's global random stream is neither drawn from nor seeded.
- ValueError from balanced_loader if there are not as many labels as examples.
"""

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float64, Int
from torch import Tensor
from torch.utils.data import DataLoader


def sample_weights(labels: Int[Tensor, "examples"] | Sequence[int]) -> Float64[Tensor, "examples"]:
    """The chance of each example to be the next one."""
    raise NotImplementedError


def balanced_loader(
    dataset: Sequence[Any], labels: Int[Tensor, "examples"] | Sequence[int], batch_size: int, seed: int = 0
) -> DataLoader[Any]:
    """A loader of `dataset` in which all classes come equally often."""
    raise NotImplementedError
