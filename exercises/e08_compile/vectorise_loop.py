"""Words out of word pieces: a few operations for the whole batch instead of some for each word.

A tokenizer splits words into pieces, but labels such as "this is a name" belong to words. So `pool_words` gives each
word the mean of the states of its pieces:

    states = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [9.0, 9.0]]])     # one text, four pieces
    word_ids = torch.tensor([[0, 1, 1, -1]])        # word 1 has two pieces; the last piece is padding
    pool_words(states, word_ids, words=3)           # [[[1., 2.], [4., 5.], [0., 0.]]]

The code below is right, but starts small operations for each word of each text: a GPU mostly waits for the next one.
Write it without the loops.

- Values and gradients stay what they are.
- A piece with the id -1 (a special token, padding) belongs to no word. A word without pieces gets zeros.
- The number of operations and of Python steps is the same for any batch, time and words.

Fine print:
- Ids of `words` or more belong to no word either.
- No tensor of batch * words * time numbers is made, as a one-hot matrix would be.
- NaN or inf in a piece stays in its own word. In padding it reaches no word and no gradient.
- Half precision is summed in float32 and rounded once; float64 stays float64.
- batch, time and words may be 0.
- The inputs stay as they are. What lies on another device is worked on there.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def pool_words(
    states: Float[Tensor, "batch time dim"], word_ids: Int[Tensor, "batch time"], words: int
) -> Float[Tensor, "batch words dim"]:
    """Average the states of each word's pieces."""
    batch, _, dim = states.shape
    pooled = torch.zeros(batch, words, dim)
    for row in range(batch):
        for word in range(words):
            pieces = states[row, word_ids[row] == word]
            if len(pieces):
                pooled[row, word] = pieces.mean(0)
    return pooled
