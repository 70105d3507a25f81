"""The worked example of block_mask."""

import torch

from grader.checks.contract import Contract, given

DOCUMENTS = torch.tensor([7, 7, 7, 7, 7, 7, 2, 2])

packed = Contract(
    "packed(documents, window)",
    example=(given(DOCUMENTS, window=5), [True, False, True, False, False]),
    use=lambda answer, documents, **window: answer.packed(documents, **window)(
        torch.tensor(0), torch.tensor(0), torch.tensor([3, 3, 5, 5, 7]), torch.tensor([3, 4, 1, 0, 5])
    ),
    dims="pair",
)


def mask_mod(b, h, q, kv):
    return (DOCUMENTS[q] == DOCUMENTS[kv]) & (q >= kv) & (q - kv < 5)


block_table = Contract(
    "block_table(mask_mod, queries, keys, block)",
    example=(
        given(mask_mod, queries=8, keys=8, block=2),
        [[1, 0, 0, 0], [2, 1, 0, 0], [1, 2, 1, 0], [0, 0, 0, 1]],
    ),
    use=lambda answer, *call, **numbers: torch.as_tensor(answer.block_table(*call, **numbers)).long(),
    dims="row column",
)
