"""Beam search: keep the few best beginnings, not the one that looks best at each step.

Greedy decoding cannot take back a token; beam search goes on with several sequences, at first with the prompt alone.
`model(ids)`, (sequences, time) to (sequences, time, vocab), gives logits for the token after each.

    model = torch.tensor([[1.0, 0.0, 0.0], [1.0, 11.0, 8.0], [7.0, 2.0, 1.0]]).log().__getitem__
    beam_search(model, torch.tensor([1]), width=1, max_new_tokens=3, end=0)   # [1, 1, 1, 1]: -1.5092
    beam_search(model, torch.tensor([1]), width=2, max_new_tokens=3, end=0)   # [1, 2, 0]: -1.1605, of 0.4 * 0.7,
                                                                              # and then [1, 1, 1, 1]

- Each step adds a token to all live sequences; the `width` with the largest sums of log-probabilities stay.
- Of these, one that ends with `end` is finished: set aside. The others are live.
- After max_new_tokens steps these are finished, too.
- A score is the sum / ((5 + n) / 6) ** alpha, for n new tokens, `end` among them.
- Return the `width` best finished ones, (ids with the prompt, score), the best first.

Fine print:
- The search is that of Sutskever et al. 2014 (section 3.2), the penalty that of Wu et al. 2016 (equation 14).
- The model is called once a step, with all live sequences, and not at all when none is live.
- Fewer sequences than `width` come back where there are no more. A token with logit -inf makes none.
- Logits in half precision are turned to log-probabilities and added up in float32.
- With max_new_tokens=0 the prompt comes back, with score 0.
- No graph is kept. Ties may go either way. The prompt stays as it is.
- On another device ids are there too; scores may be read on the CPU.
"""

from collections.abc import Callable

from jaxtyping import Float, Int64
from torch import Tensor


def beam_search(
    model: Callable[[Int64[Tensor, "sequences time"]], Float[Tensor, "sequences time vocab"]],
    prompt: Int64[Tensor, "prompt"],
    width: int,
    max_new_tokens: int,
    end: int,
    alpha: float = 0.6,
) -> list[tuple[Int64[Tensor, "time"], float]]:
    """Continue the prompt, (prompt,), by the likeliest sequences of up to max_new_tokens."""
    raise NotImplementedError
