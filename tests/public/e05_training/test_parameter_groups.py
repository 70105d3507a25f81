"""The worked example of parameter_groups."""

from torch import nn

from grader.checks import expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out: two weights decay, biases and the norm do not."""
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2))
    names = {id(p): name for name, p in model.named_parameters()}
    groups = answer.parameter_groups(model, 0.1)
    expect_equal(len(groups), 2, "the number of groups from parameter_groups(model, 0.1)")
    wanted = [["0.weight", "2.weight"], ["0.bias", "1.weight", "1.bias", "2.bias"]]
    for group, parameters, decay in zip(groups, wanted, [0.1, 0.0], strict=True):
        found = [names.get(id(p), "no parameter of the model") for p in group["params"]]
        call = f"the group with weight_decay={decay}"
        expect_equal(group["weight_decay"], decay, f'"weight_decay" of {call}')
        twice = sorted([*parameters, *parameters])
        suspects = {
            "a parameter is there twice: parameters() has those of all parts": lambda twice=twice: twice,
            "LayerNorm's weight is no matrix: look at p.dim()": lambda: ["0.weight", "1.weight", "2.weight"],
        }
        expect_equal(sorted(found), sorted(parameters), f"the parameters of {call}", suspects=suspects)
