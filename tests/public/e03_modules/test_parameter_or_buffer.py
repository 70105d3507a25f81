"""The contract of parameter_or_buffer."""

import torch

from grader.checks import expect_close, expect_equal


def head(answer):
    return answer.SensorHead(mean=torch.tensor([1.0, 10.0]), std=torch.tensor([1.0, 5.0]), time=2)


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    y = head(answer)(torch.tensor([[2.0, 20.0], [3.0, 0.0]]))
    expect_close(y.detach(), torch.tensor([[0.5, 1.0], [2.0, -2.0]]), "head(x)", dims="time channel")


def test_the_one_parameter(answer):
    """The gain is what the head learns."""
    names = [name for name, _ in head(answer).named_parameters()]
    suspects = {
        "what is not learned is a buffer, no nn.Parameter": lambda: names if len(names) > 1 else None,
        "the gain is learned: it is to be an nn.Parameter": list,
    }
    expect_equal(names, ["gain"], "the names of head.named_parameters()", suspects=suspects)


def test_state_dict(answer):
    """The gain and the statistics are saved, the ramp is not."""
    suspects = {
        "the ramp is saved as well: register it with persistent=False": lambda: [
            "gain",
            "mean",
            "ramp",
            "std",
        ],
        "mean and std are not saved: register them as buffers": lambda: ["gain"],
    }
    wanted, call = ["gain", "mean", "std"], "the names in head.state_dict()"
    expect_equal(sorted(head(answer).state_dict()), wanted, call, suspects=suspects)
