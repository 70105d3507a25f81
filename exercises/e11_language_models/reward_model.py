"""A reward model: one number for an answer, learned from pairs of which people prefer one.

A reward is read off the last real token, which has seen all others. (Ouyang et al. 2022, "Training language models
to follow instructions with human feedback", equation 1; margins: Touvron et al. 2023, equation 2.)

    loss = -log(sigmoid(chosen - rejected - margin))

    model = RewardModel(backbone, dim=2)     # say that head.weight is [[1, 10]], and a token's features [id, 1]
    ids, mask = torch.tensor([[5, 7, 0], [4, 3, 8]]), torch.tensor([[True, True, False], [True, True, True]])
    model(ids, mask)                         # [17, 18]: from tokens 7 and 8
    pairwise_loss(torch.tensor([2.0, 0.0]), torch.tensor([1.0, 0.5]))     # (0.6437, 0.5)

- `backbone(ids, mask)` gives (batch, time, dim). `head` is nn.Linear of dim to 1 without a bias.
- mask is True at real tokens; padding comes after them. Each row has one reward, a single row too.
- `pairwise_loss` returns the mean loss, and the share of pairs where chosen is larger.
- margin is a number, or one for each pair.
- Gradients flow to rewards, head and backbone.

Fine print:
- Padding may come before the tokens as well: what counts is the last token whose mask is True.
- Rewards that differ by 1000 give a finite loss.
- The margin has no part in the share of right pairs; a pair of equal rewards is not right.
- Cast with `.to`, the model works in half precision. float64 rewards have their loss in float64.
- The arguments stay as they are. On another device nothing is copied to or from the CPU: the share is a tensor there.
"""

from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn


class RewardModel(nn.Module):
    """A backbone, and a head that reads one number off the last token."""

    def __init__(self, backbone: nn.Module, dim: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(
        self, ids: Int64[Tensor, "batch time"], mask: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch"]:
        """The reward of each row of ids, (batch, time)."""
        raise NotImplementedError


def pairwise_loss(
    chosen: Float[Tensor, "pairs"],
    rejected: Float[Tensor, "pairs"],
    margin: float | Float[Tensor, "pairs"] = 0.0,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """The mean loss and the share of right pairs, 0-d, from the rewards of chosen and of rejected answers."""
    raise NotImplementedError
