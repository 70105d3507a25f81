"""The worked example of migrate_checkpoint."""

import torch

from grader.checks import expect_equal

STEPS = [[("encoder.", "body."), ("fc.", "head.")], [("body.conv.", "body.stem.")]]


def test_worked_example(answer):
    """A state dict of version 0, saved under DistributedDataParallel, has today's names."""
    w, b = torch.ones(2, 3), torch.zeros(2)
    yours = answer.migrate({"module.encoder.conv.weight": w, "module.fc.bias": b}, STEPS)
    expect_equal(yours, {"body.stem.weight": w, "head.bias": b}, "migrate(saved, steps)")
