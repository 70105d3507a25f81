"""The worked examples of reward_model."""

import torch
from torch import nn

from grader.checks.contract import Contract, layer


class Numbers(nn.Module):
    """A backbone: the features of a token are its id, and 1."""

    def forward(self, ids, mask):
        return torch.stack([ids.float(), torch.ones(ids.shape)], -1)


IDS = torch.tensor([[5, 7, 0], [4, 3, 8]])
MASK = torch.tensor([[True, True, False], [True, True, True]])

RewardModel = Contract(
    "RewardModel(backbone, dim)(ids, mask)",
    example=(
        layer(Numbers(), 2, state={"head.weight": torch.tensor([[1.0, 10.0]])})(IDS, MASK),
        torch.tensor([17.0, 18.0]),
    ),
    dims="batch",
)
pairwise_loss = Contract(
    "pairwise_loss(chosen, rejected)",
    example=(
        (torch.tensor([2.0, 0.0]), torch.tensor([1.0, 0.5])),
        (torch.tensor(0.6436693), torch.tensor(0.5)),
    ),
    use=lambda answer, *given: tuple(map(torch.as_tensor, answer.pairwise_loss(*given))),
)
