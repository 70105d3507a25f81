"""The worked example of beam_search: one beam, and two."""

import torch

from grader.checks.contract import Contract, given

MODEL = torch.tensor([[1.0, 0.0, 0.0], [1.0, 11.0, 8.0], [7.0, 2.0, 1.0]]).log().__getitem__
ONE = torch.tensor([1])


def listed(answer, *args, **options):
    """The scores, and the sequences as rows, padded with -1."""
    found = list(answer.beam_search(*args, **options))
    ids = [torch.as_tensor(ids).flatten() for ids, _ in found] or [torch.zeros(0, dtype=torch.int64)]
    rows = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=-1)
    return torch.tensor([float(score) for _, score in found]), rows


contract = Contract(
    "beam_search(model, prompt, width, max_new_tokens, end)",
    use=listed,
    example=[
        (
            given(MODEL, ONE, width=1, max_new_tokens=3, end=0),
            (torch.tensor([-1.5091792]), torch.tensor([[1, 1, 1, 1]])),
        ),
        (
            given(MODEL, ONE, width=2, max_new_tokens=3, end=0),
            (torch.tensor([-1.1605093, -1.5091792]), torch.tensor([[1, 2, 0, -1], [1, 1, 1, 1]])),
        ),
    ],
    dims=("sequence", "sequence time"),
)
