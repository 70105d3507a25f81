"""Device-side assert triggered: which id was out of range?

On a GPU an index out of range ends in "CUDA error: device-side assert triggered", told at some later line, and from then on
every call fails. On the CPU the same lookup raises an IndexError, but does not say which id it was. Find the first lookup in
an `nn.Embedding` that goes wrong:

    model = nn.Sequential(nn.Embedding(3, 2), nn.Flatten(), nn.Linear(4, 1))
    find_bad_id(model, torch.tensor([[0, 2], [3, 1]]))    # BadId(layer="0", id=3, place=(1, 0)): ids are 0, 1 and 2
    find_bad_id(model, torch.tensor([[0, 2], [1, 1]]))    # None

- Wrong are ids below 0, and from `num_embeddings` on.
- layer is the name in `named_modules()`. Of several lookups the one that is called first counts.
- id is the first wrong one in row-major order, and place its index in the ids of this lookup.
- A model may make ids itself: positions, for instance.

Fine print:
- The model may be on a GPU, and its inputs too. All is run on the CPU, and the model stays where it is, in its dtype.
- Hooks, mode and buffers of the model stay as they are, running statistics too.
- An IndexError for another reason comes out.
- A single id without dimensions has the place ().
"""

from dataclasses import dataclass

from jaxtyping import Int
from torch import Tensor, nn


@dataclass(frozen=True)
class BadId:
    """A lookup that fails: the embedding's name, the first wrong id, and where it is among the ids."""

    layer: str
    id: int
    place: tuple[int, ...]


def find_bad_id(model: nn.Module, inputs: Int[Tensor, "..."]) -> BadId | None:
    """The first wrong id that an embedding of the model is given; None if there is none."""
    raise NotImplementedError
