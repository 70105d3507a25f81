from jaxtyping import Float
from torch import Tensor


def distances(
    points: Float[Tensor, "points dim"], centres: Float[Tensor, "centres dim"]
) -> Float[Tensor, "points centres"]:
    squared = (points[:, None, :] - centres[None, :, :]).square().sum(dim=-1)  # (points, centres)
    same = squared == 0
    roots = squared.masked_fill(same, 1.0).sqrt()  # the root never sees a 0: inf times 0 would be NaN
    return roots.masked_fill(same, 0.0)


def entropy(probabilities: Float[Tensor, "*batch classes"]) -> Float[Tensor, "*batch"]:
    none = probabilities == 0
    logs = probabilities.masked_fill(none, 1.0).log()  # log(1) is 0, and finite in the backward pass
    terms = -(probabilities * logs).masked_fill(none, 0.0)
    return terms.sum(dim=-1)
