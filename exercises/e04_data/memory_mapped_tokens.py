"""Tokens in a file: a dataset that reads only what it is asked for.

A corpus of 100 GB lies on disk as one long row of token numbers, two bytes each (GPT-2 has 50257 tokens). Make a dataset
of it that needs no memory worth mentioning. Item i is a block of tokens, x, and the tokens that follow each, y:

    np.array([7, 3, 50256, 4, 1, 8, 2, 9], dtype=np.uint16).tofile("train.bin")
    data = TokenFile("train.bin", block=3)
    len(data)      # 2: a third block would begin at the 2, and lacks tokens
    data[0]        # ([7, 3, 50256], [3, 50256, 4])
    data[1]        # ([4, 1, 8], [1, 8, 2])

- Blocks lie one behind the other; a rest at the end that is too short for x and y is left out.
- x and y are int64, as an embedding and a loss want them.
- Nothing is read in advance: what an item holds is read from the file when it is asked for.

Fine print:
- An item costs memory for its own tokens alone, however long the file is.
- Workers that get the dataset by pickle get the path, not the corpus: the pickle has less than 2000 bytes.
  (An np.memmap is pickled with all that it holds, and an open file not at all.)
- The path is a str or a Path. With dtype="uint32" tokens have four bytes.
- Writing into x changes neither y, nor the file, nor later items.
- Index -1 is the last item; IndexError beyond either end.
- A file that is too short for one item, or empty, has the length 0.
"""

from pathlib import Path

from jaxtyping import Int64
from torch import Tensor
from torch.utils.data import Dataset


class TokenFile(Dataset[tuple[Tensor, Tensor]]):
    """Blocks of a file of tokens, each with the tokens that follow."""

    def __init__(self, path: str | Path, block: int, dtype: str = "uint16") -> None:
        """The file holds tokens of this dtype and nothing else."""
        raise NotImplementedError

    def __len__(self) -> int:
        """The number of blocks."""
        raise NotImplementedError

    def __getitem__(self, index: int) -> tuple[Int64[Tensor, "block"], Int64[Tensor, "block"]]:
        """A block of tokens, and the tokens one place on."""
        raise NotImplementedError
