"""Continuous batching: a request joins at the next step, and leaves when it is done.

A batch that stays together until its longest text is done leaves slots empty. So servers choose at each step which
requests run.

    model = (9.0 * torch.eye(10).roll(1, 1)).__getitem__         # after each token comes the next higher one
    engine = Engine(model, slots=2, end=9)
    engine.submit(torch.tensor([1, 2]), max_new_tokens=2)        # 0
    engine.submit(torch.tensor([6]), max_new_tokens=8)           # 1
    engine.submit(torch.tensor([4]), max_new_tokens=1)           # 2
    engine.step()    # {}: 0 and 1 run, and 2 waits
    engine.step()    # {0: [3, 4]}
    engine.step()    # {1: [7, 8, 9], 2: [5]}: 2 ran in the slot of 0

- submit returns the request's number: 0, 1, … Who waits runs as soon as a slot is free, the first first.
- step calls model once for all that run: ids (running, time) to logits (running, time, vocab).
- Each gets the likeliest token after its own last one, as if alone.
- Rows are padded on the right; the model is causal: nothing before sees it.
- step returns, by number, the new tokens of those that are done: max_new_tokens, or up to `end`.

Fine print:
- This is the iteration-level scheduling of Orca (Yu et al. 2022), without its cache; vLLM evicts like this (Kwon et al. 2023).
- Those that run have at most `budget` tokens in all before a call; one alone may have more. Who came last goes back to the
  front of the queue until there is room, and keeps its new tokens; nobody behind it runs before.
- Padding is 0, and time that of the longest request that runs.
- Where nothing runs or waits, step returns {} and calls no model.
- Gradients are off while the model runs. A prompt that is changed after submit changes nothing.
- On another device all ids are where the prompts are.
- ValueError for a prompt without tokens, and for max_new_tokens or slots below 1.
"""

from collections.abc import Callable

from jaxtyping import Float, Int64
from torch import Tensor


class Engine:
    """Requests that share the batches of one model."""

    def __init__(
        self,
        model: Callable[[Int64[Tensor, "running time"]], Float[Tensor, "running time vocab"]],
        slots: int,
        end: int,
        budget: int | None = None,
    ) -> None:
        raise NotImplementedError

    def submit(self, prompt: Int64[Tensor, "prompt"], max_new_tokens: int) -> int:
        """Let a request wait, and return its number."""
        raise NotImplementedError

    def step(self) -> dict[int, Int64[Tensor, "new"]]:
        """Add a token to each request that runs, and return the new tokens of those that are done."""
        raise NotImplementedError
