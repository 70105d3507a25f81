"""Byte-pair encoding: a tokenizer that merges the pairs of tokens that are met most often.

A text begins as its bytes in UTF-8, tokens 0 to 255. Training merges the most frequent pair of neighbours into a new token,
again and again. (Sennrich et al. 2016; of bytes, as here, in GPT-2.)

    merges = train("aaabdaaabac", 3)      # [(97, 97), (256, 97), (257, 98)]: aa is token 256, aaa 257, aaab 258
    encode("aaabdaaabac", merges)         # [258, 100, 258, 97, 99]
    encode("caaaa", merges)               # [99, 256, 256]
    decode([258, 99], merges)             # "aaabc"

- The pair of merge n, from 0, becomes token 256 + n.
- Neighbours are counted at each place: "aaa" holds (97, 97) twice. Of equally frequent pairs the one that is met first counts.
- A pair is replaced from left to right: "aaa" becomes [256, 97].
- encode applies merges in the order in which they were learned.
- decode gives back any text, also of several bytes per letter.

Fine print:
- A pair that is there only once is merged as well. Training ends early where no pair is left.
- Bytes that are no whole letter, as where ids are cut off, are decoded to "\\ufffd", by errors="replace".
- The empty text has no merges and no tokens, and no tokens are the empty text.
- ids are Python ints, and pairs are tuples (a list of two will do).
"""

from collections.abc import Sequence


def train(text: str, count: int) -> list[tuple[int, int]]:
    """Learn `count` merges from a text: each a pair of ids."""
    raise NotImplementedError


def encode(text: str, merges: Sequence[tuple[int, int]]) -> list[int]:
    """The ids of a text's tokens."""
    raise NotImplementedError


def decode(ids: Sequence[int], merges: Sequence[tuple[int, int]]) -> str:
    """The text that these tokens stand for."""
    raise NotImplementedError
