"""The worked example of train_epoch, and that it does not wait."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_number
from grader.checks.devices import count_traffic

CALL = "train_epoch(model, optimizer, batches, max_norm=0.1)"


def example():
    model = nn.Linear(1, 2, bias=False)
    nn.init.zeros_(model.weight)
    return model, [(torch.tensor([[[3.0], [4.0], [9.0]]]), torch.tensor([[0, 1, -100]]))]


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    model, batches = example()
    report = answer.train_epoch(model, torch.optim.SGD(model.parameters(), lr=1.0), batches, max_norm=0.1)
    wanted = {"loss": 0.6931, "accuracy": 0.5, "largest_norm": 0.3536}
    expect_equal(sorted(report), sorted(wanted), f"the names in the report of {CALL}")
    total = {
        "the norm of a loss that is a sum: it trains on the mean over labelled positions": lambda: 0.7071
    }
    for name, right in wanted.items():
        expect_number(report[name], right, f"{name} from {CALL}", atol=1e-4, suspects=total)
    weight = torch.tensor([[-0.0707], [0.0707]])
    suspects = {"the gradients are not scaled": lambda: torch.tensor([[-0.25], [0.25]])}
    expect_close(model.weight.detach(), weight, f"model.weight after {CALL}", ulps=1e4, suspects=suspects)


def test_small_gradients(answer):
    """Gradients whose norm is below max_norm stay as they are."""
    model, batches = example()
    answer.train_epoch(model, torch.optim.SGD(model.parameters(), lr=1.0), batches, max_norm=1.0)
    weight, call = torch.tensor([[-0.25], [0.25]]), "model.weight after train_epoch(…, max_norm=1.0)"
    scaled = {"they are scaled up to max_norm: none is to grow": lambda: weight * 8**0.5}
    expect_close(model.weight.detach(), weight, call, ulps=1e4, suspects=scaled)


def test_no_wait_in_a_step(answer, device):
    """The host does not wait for the device before the last step is done."""
    model, batches = example()
    model.to(device)
    there = [(features.to(device), labels.to(device)) for features, labels in batches * 2]
    waits = []

    def loader():
        for batch in there:
            yield batch
            waits.append(traffic.syncs)

    with count_traffic() as traffic:
        answer.train_epoch(model, torch.optim.SGD(model.parameters(), lr=1.0), loader(), max_norm=0.1)
    expect_equal(waits, [0, 0], "the waits for the device after each of two steps")
