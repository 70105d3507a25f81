"""Which process am I? The environment.

`torchrun --nproc-per-node=4 train.py` starts a script four times. It tells each process its number, from 0, in the
environment variable RANK, and how many there are in WORLD_SIZE. A script that is started by `python train.py` finds
neither: it is number 0 of 1. Return both as integers.

    who_am_i()      # with RANK=2 and WORLD_SIZE=4: (2, 4)
    who_am_i()      # without them:                 (0, 1)

New here: `os.environ.get("RANK", "0")` is the variable's value, a text, or else "0".
"""

import os


def who_am_i() -> tuple[int, int]:
    raise NotImplementedError
