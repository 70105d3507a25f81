"""The worked examples of answer_only_loss."""

import torch

from grader.checks.contract import Contract, given

HEADERS = {"user": [1], "assistant": [2, 5]}
TURNS = [("user", [10, 11]), ("assistant", [12])]
LOGITS = torch.tensor([[[0.75, 0.25], [0.5, 0.5], [0.1, 0.9]]]).log()


def both(answer, *args):
    """ids and labels, as tensors whether they are lists or tensors."""
    return tuple(torch.tensor(part) if isinstance(part, list) else part for part in answer.chat_labels(*args))


chat_labels = Contract(
    "chat_labels(turns, headers, end)",
    use=both,
    example=(
        given(TURNS, HEADERS, 3),
        (torch.tensor([1, 10, 11, 3, 2, 5, 12, 3]), torch.tensor([-100] * 6 + [12, 3])),
    ),
    dims=("token", "token"),
)
answer_loss = Contract(
    "answer_loss(logits, labels)",
    example=((LOGITS, torch.tensor([[-100, 0, 1]])), torch.tensor(0.49041463)),
)
