"""The bytes of a text: `encode`.

A language model reads ids, not letters. The simplest ids are the bytes of the text in UTF-8, numbers from 0 to 255;
a letter like é takes two of them. Return them as a row.

    bytes_of_a_text("né")
    # tensor([110, 195, 169])

New here: `text.encode("utf-8")` gives the bytes of a text; `list(…)` of bytes is a list of whole numbers.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def bytes_of_a_text(text: str) -> Int[Tensor, "bytes"]:
    raise NotImplementedError
