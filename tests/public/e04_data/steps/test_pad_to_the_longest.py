"""The suite of pad_to_the_longest."""

import torch

from grader.checks.contract import Contract, given


def padded(sentences):
    longest = max(len(sentence) for sentence in sentences)
    return torch.tensor([sentence.tolist() + [0] * (longest - len(sentence)) for sentence in sentences])


def in_front(sentences):
    return padded([sentence.flip(0) for sentence in sentences]).flip(1)


def draw(gen):
    def words(*lengths):
        return given([torch.randint(1, 1000, (n,), generator=gen) for n in lengths])

    return {
        "three sentences": words(2, 5, 3),
        "as many sentences as words": words(2, 4, 1, 3),
        "sentences of one length": words(3, 3),
        "the longest first": words(6, 2, 4),
    }


contract = Contract(
    "pad_to_the_longest(sentences)",
    reference=padded,
    example=(given([torch.tensor([5, 3, 8]), torch.tensor([7])]), [[5, 3, 8], [7, 0, 0]]),
    inputs=draw,
    dims="sentences longest",
    suspects={
        "each sentence became a column: batch_first=True is missing": lambda sentences: padded(sentences).T,
        "the zeros stand in front of the words, and not behind": in_front,
        "torch.stack takes rows of one length only: pad them first": lambda sentences: torch.stack(sentences),
        "torch.tensor makes no matrix of rows of unequal length: pad them first": lambda sentences: (
            torch.tensor(sentences)
        ),
    },
)
