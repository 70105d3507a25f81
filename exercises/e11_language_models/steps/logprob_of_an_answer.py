"""How likely is an answer: the sum of log-probabilities.

logits[:, t] were made to guess ids[:, t]. The log-probability of an answer is the sum over its tokens; a mask is True
at these, and False at the question and at padding. Return one number for each text.

    logits = torch.tensor([[[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]])
    logprob_of_an_answer(logits, torch.tensor([[1, 0, 0]]),
                         torch.tensor([[False, True, True]]))
    # tensor([-1.4402]), of -0.1269 and -1.3133

New here: `x.gather(-1, ids.unsqueeze(-1)).squeeze(-1)` takes the number of each id along the last dim. `x * mask` is 0
where the mask is False.
"""

from jaxtyping import Bool, Float, Int
from torch import Tensor


def logprob_of_an_answer(
    logits: Float[Tensor, "batch time vocab"],
    ids: Int[Tensor, "batch time"],
    mask: Bool[Tensor, "batch time"],
) -> Float[Tensor, "batch"]:
    raise NotImplementedError
