"""The worked example of generate."""

import torch

from grader.checks import expect_close, expect_equal


def counts(ids, positions, cache=None):
    """A model that is sure that the next number comes next."""
    return 20 * torch.nn.functional.one_hot((ids + 1) % 10, 10).float(), cache


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    yours = answer.next_probabilities(torch.tensor([[3.0, 1.0, 2.0, 0.0]]), top_k=3, top_p=0.9)
    call = "next_probabilities(logits, top_k=3, top_p=0.9)"
    expect_close(yours, torch.tensor([[0.7310586, 0.0, 0.2689414, 0.0]]), call, dims="batch vocab")
    yours = answer.generate(counts, [[3, 4], [7]], 3, temperature=0, stop={8})
    lists = [torch.as_tensor(row).tolist() for row in yours]
    suspects = {
        "the token of stop belongs to what is returned": lambda: [[5, 6, 7], []],
        "prompts are not to be returned": lambda: [[3, 4, 5, 6, 7], [7, 8]],
        "after a token of stop nothing more is said": lambda: [[5, 6, 7], [8, 9, 0]],
    }
    expect_equal(lists, [[5, 6, 7], [8]], "generate(counts, [[3, 4], [7]], 3, …)", suspects=suspects)
