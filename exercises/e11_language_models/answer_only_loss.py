"""Fine-tuning on chats: what the model is to say is learned, what it is told is not.

A chat becomes one row of tokens: for each turn the header of its role, its content, and the end-of-turn token. Only tokens that
the assistant is to produce get a label.

    headers = {"user": [1], "assistant": [2, 5]}
    turns = [("user", [10, 11]), ("assistant", [12])]
    ids, labels = chat_labels(turns, headers, end=3)
    ids         # [1, 10, 11, 3, 2, 5, 12, 3]
    labels      # [-100, -100, -100, -100, -100, -100, 12, 3]

    logits = torch.tensor([[[0.75, 0.25], [0.5, 0.5], [0.1, 0.9]]]).log()
    answer_loss(logits, torch.tensor([[-100, 0, 1]]))       # (-log(0.75) - log(0.5)) / 2 = 0.4904

- An assistant's content and its end-of-turn are labels, in all of its turns; all else is -100.
- The logits at token t are about token t + 1: answer_loss shifts, labels are not shifted before.
- The loss is the mean over all labels of the batch that count: each weighs the same, whichever row it is in.
- Gradients flow to logits. No loop over rows or tokens in answer_loss.

Fine print:
- Where no label counts the loss is 0, and so are the gradients: not NaN.
- A label of the first token does not count: no logits are about it.
- ids and labels are int64, also without a turn. Content may be empty: header and end-of-turn are there nevertheless.
- A role without a header raises KeyError (ValueError will do).
- The loss has the logits' dtype (float32 will do for half precision), and their device: nothing is copied to or from the CPU.
- Any strides; logits and labels stay as they are.
"""

from collections.abc import Mapping, Sequence

from jaxtyping import Float, Int64
from torch import Tensor


def chat_labels(
    turns: Sequence[tuple[str, Sequence[int]]], headers: Mapping[str, Sequence[int]], end: int
) -> tuple[Int64[Tensor, "time"], Int64[Tensor, "time"]]:
    """The tokens of a chat, and its labels; a turn is a role and the tokens of its content."""
    raise NotImplementedError


def answer_loss(
    logits: Float[Tensor, "batch time vocab"], labels: Int64[Tensor, "batch time"]
) -> Float[Tensor, ""]:
    """The mean cross-entropy of all tokens that have a label."""
    raise NotImplementedError
