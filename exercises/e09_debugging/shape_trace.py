"""Which shapes go into and out of every module?

"mat1 and mat2 shapes cannot be multiplied (32x512 and 2048x10)", in forty layers. `shape_trace` logs every call in a
`with` block, and so how far the model got:

    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(4, 2))     # 5 numbers meet a layer for 4
    with shape_trace(model) as rows:
        model(torch.zeros(8, 3))                                           # RuntimeError
    for row in rows: print(row)

    Call(name='', kind='Sequential', inputs=[(8, 3)], outputs=None)
    Call(name='0', kind='Linear', inputs=[(8, 3)], outputs=[(8, 5)])
    Call(name='1', kind='ReLU', inputs=[(8, 5)], outputs=[(8, 5)])
    Call(name='2', kind='Linear', inputs=[(8, 5)], outputs=None)

- `rows` gets a Call for each call of the model or a module in it, in the order in which they begin.
- name is that in `model.named_modules()`, and kind the name of the module's class.
- inputs: the shapes of the tensors that go in. outputs: of those that come back; None if the call raises.
- Tuples and lists are opened: an LSTM's (output, (h, c)) makes three shapes.
- After the block, also one that raises, no hook is left. Errors reach the caller.

Fine print:
- Tensors among the keyword arguments come after the positional ones. Dicts are opened; nesting may be deep.
- What is no tensor, such as None or a number, has no entry; a call without any has [].
- A call whose error is caught within the block keeps None, and later calls get what is theirs.
- Hooks of others stay, also those added within the block.
- The rows keep no tensor alive. Results, gradients and modes are what they would be without them.
- Blocks may be nested, on the same model too: each has a list of its own. Other models are not logged.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn


@dataclass
class Call:
    """One call of a module: which, and the shapes of the tensors that went in and came out."""

    name: str
    kind: str
    inputs: list[tuple[int, ...]]
    outputs: list[tuple[int, ...]] | None = None


@contextmanager
def shape_trace(model: nn.Module) -> Iterator[list[Call]]:
    """Log the calls of `model` and of all modules in it while a `with` block runs."""
    raise NotImplementedError
