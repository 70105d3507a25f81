"""Broadcast without paying for it: one prompt, many beams.

Beam search scores many continuations (beams) of one prompt. What the beams only read, they can share;
what each of them writes, it must own.

    prompt = torch.tensor([[1., 2.], [3., 4.]])         # (time, dim)
    share(prompt, 3)                                    # (3, 2, 2): three times the prompt, one memory
    own(prompt, 3)                                      # (3, 2, 2): the same numbers, three memories
    add_positions(torch.zeros(2, 2, 2), torch.tensor([[1., 2.], [3., 4.], [5., 6.]]))
                                                        # [[[1, 2], [3, 4]], [[1, 2], [3, 4]]]

The code below runs out of memory with 64 beams, and when one beam writes its first token, all the others
and the prompt itself change with it. It repeats what could be shared, and shares what must be repeated.

Rules: a prompt may have any shape (0-d too), dtype and strides; `beams` may be 0 or 1. `share` copies
nothing: it returns a view of the prompt. `own` copies each number once per beam and allocates nothing
else; not even with one beam does it share memory with the prompt, and no two beams share any.
`add_positions` returns a new tensor and allocates nothing else of its size. No argument is changed.
Gradients flow to every argument.
"""

from jaxtyping import Float, Shaped
from torch import Tensor


def share(prompt: Shaped[Tensor, "*shape"], beams: int) -> Shaped[Tensor, "beams *shape"]:
    """The prompt for every beam, to read only.

    Args:
        prompt: any shape.
        beams: how many beams, 0 or more.

    Returns:
        (beams, *shape), a view of the prompt's memory.
    """
    return prompt.repeat(beams, *[1] * prompt.dim())


def own(prompt: Shaped[Tensor, "*shape"], beams: int) -> Shaped[Tensor, "beams *shape"]:
    """The prompt for every beam, to write into.

    Args:
        prompt: any shape.
        beams: how many beams, 0 or more.

    Returns:
        (beams, *shape), in which each beam has memory of its own.
    """
    return prompt.expand(beams, *prompt.shape)


def add_positions(
    x: Float[Tensor, "*batch time dim"], table: Float[Tensor, "longest dim"]
) -> Float[Tensor, "*batch time dim"]:
    """Add row t of a table of positions to position t of every sequence.

    Args:
        x: the sequences, (*batch, time, dim), with any number of leading dimensions.
        table: (longest, dim), longest >= time, in the dtype of `x`. Its first `time` rows are used.

    Returns:
        The sums, (*batch, time, dim), a new tensor in the dtype of `x`.
    """
    time = x.shape[-2]
    return x + table[:time].repeat(*x.shape[:-2], 1, 1)
