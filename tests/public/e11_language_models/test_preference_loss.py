"""The worked examples of preference_loss."""

import torch

from grader.checks.contract import Contract, given

LOGITS = torch.tensor([[[1.0, 3.0], [1.0, 1.0], [4.0, 1.0]]]).log()
IDS, MASK = torch.tensor([[0, 1, 0]]), torch.tensor([[False, True, True]])

answer_logprobs = Contract(
    "answer_logprobs(logits, ids, mask)",
    example=(given(LOGITS, IDS, MASK), torch.tensor([-0.9808293])),
    dims="batch",
)
preference_loss = Contract(
    "preference_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta)",
    example=(
        given(*torch.tensor([[-2.0], [-5.0], [-4.0], [-3.0]]), beta=0.5),
        (torch.tensor(0.1269280), torch.tensor([1.0]), torch.tensor([-1.0])),
    ),
    use=lambda answer, *given, **options: tuple(
        t.detach() for t in answer.preference_loss(*given, **options)
    ),
)
