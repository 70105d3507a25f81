"""What hostile and honest answers have in common."""

from dataclasses import dataclass

WRONG = "def merge_heads(x):\n    return 2 * x.reshape(x.shape[0], x.shape[2], -1)\n"
"""Right shapes, wrong values in every case: worth nothing unless the attack works."""

LOOP = """import torch

def merge_heads(x):
    heads = [x[:, i] for i in range(x.shape[1])]
    return torch.cat(heads, -1) if heads else x.transpose(1, 2).flatten(2)
"""
"""Right values, at a price that two checks do not accept."""

RIGHT = "def merge_heads(x):\n    return x.transpose(1, 2).flatten(2)\n"


@dataclass(frozen=True)
class Hostile:
    """An attack, the statuses that are fair, and words that the record must hold.

    `code` runs before and `after` behind a wrong answer; `instead` is a whole answer. An answer of
    status "failed" was judged like any other: the attack came to nothing. One that computes right values in
    a way that is ruled out may earn the share `most` of the points, for the checks that it does pass.
    """

    about: str
    code: str = ""
    after: str = ""
    instead: str = ""
    statuses: tuple[str, ...] = ("failed", "tampered", "crashed", "broken")
    says: str = ""
    slug: str = "merge_heads"
    most: float = 0.0

    @property
    def text(self) -> str:
        return self.instead or "\n".join((self.code, WRONG, self.after))


@dataclass(frozen=True)
class Honest:
    """Something unusual that an honest answer does; it must lose nothing."""

    about: str
    code: str
    slug: str = "merge_heads"

    @property
    def text(self) -> str:
        return self.code
