"""Old checkpoints for a new model.

A model outlives the names of its layers, and DistributedDataParallel and torch.compile write prefixes of their own. `migrate`
turns what was saved into a state dict that today's model loads. A checkpoint is {"version": n, "model": state dict}; the first
ones were a state dict alone, version 0. steps[n] leads from version n to n + 1: pairs of an old prefix and a new one, "" for
none.

    steps = [[("encoder.", "body."), ("fc.", "head.")], [("body.conv.", "body.stem.")]]
    saved = {"module.encoder.conv.weight": w, "module.fc.bias": b}
    migrate(saved, steps)           # {"body.stem.weight": w, "head.bias": b}

- "module." and "_orig_mod." are taken off where all names have them, also both, in any order, repeatedly.
- Then come the steps from the checkpoint's version on.
- In a step a name is renamed once: by the first pair whose old prefix it begins with.
- Others stay.

Fine print:
- Where two names become one, or a version is larger than len(steps), migrate raises ValueError.
- The checkpoint stays as it is; the tensors are the very ones, and in their order. An empty state dict stays empty.
- A layer that is called "module" or "_orig_mod" further inside keeps its name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor


def migrate(checkpoint: Mapping[str, Any], steps: Sequence[Sequence[tuple[str, str]]]) -> dict[str, Tensor]:
    """The state dict of a checkpoint of any version, under the names of version len(steps)."""
    raise NotImplementedError
