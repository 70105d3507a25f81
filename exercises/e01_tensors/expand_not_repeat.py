"""Broadcast without paying for it: one prompt, many beams.

Beam search continues one prompt in many ways, its beams. What the beams only read, they can share; what each of them
writes, it must own.

    prompt = torch.tensor([[1., 2.], [3., 4.]])         # (time, dim)
    share(prompt, 3)                                    # (3, 2, 2): three times the prompt, one memory
    own(prompt, 3)                                      # (3, 2, 2): the same numbers, three memories
    add_positions(torch.zeros(2, 2, 2), torch.tensor([[1., 2.], [3., 4.], [5., 6.]]))
                                                        # [[[1, 2], [3, 4]], [[1, 2], [3, 4]]]

The code below runs out of memory with 64 beams. And when one beam writes its first token, all the others and the prompt
change with it: it repeats what could be shared, and shares what must be repeated.

- Prompts have any shape. What `share` returns is a view of them.
- Row t of the table goes to position t of every sequence; there may be any number of dimensions before `time`.
- Beside the sums, `add_positions` makes no tensor of their size.

Fine print:
- A single beam of `own` has memory of its own, too. No number is copied more than once for a beam.
- Transposed prompts and x are not copied to be shared or added.
- No beams make an empty result, in the prompt's dtype.
- Prompts of any dtype, token ids too, any strides and on any device.
- Gradients (section e02) flow to prompt, x and table, which stay as they are.
"""

from jaxtyping import Float, Shaped
from torch import Tensor


def share(prompt: Shaped[Tensor, "*shape"], beams: int) -> Shaped[Tensor, "beams *shape"]:
    """The prompt for every beam, to read only."""
    return prompt.repeat(beams, *[1] * prompt.dim())


def own(prompt: Shaped[Tensor, "*shape"], beams: int) -> Shaped[Tensor, "beams *shape"]:
    """The prompt for every beam, to write into."""
    return prompt.expand(beams, *prompt.shape)


def add_positions(
    x: Float[Tensor, "*batch time dim"], table: Float[Tensor, "longest dim"]
) -> Float[Tensor, "*batch time dim"]:
    """Each sequence plus the first `time` rows of a table of positions."""
    time = x.shape[-2]
    return x + table[:time].repeat(*x.shape[:-2], 1, 1)
