"""Answers to flops_of_a_layer."""

from grader.authoring.specimen import Right, Wrong

ALL = "2 * len(x) * layer.in_features * layer.out_features"

SPECIMENS = [
    Wrong(
        "multiplications alone",
        edits=[("2 * len", "len")],
        rung="job",
        check="test_values",
        says="additions both count",
    ),
    Wrong("one row", edits=[("len(x) * ", "")], rung="job", check="test_worked_example", says="for one row"),
    Wrong(
        "counts the bias",
        edits=[(ALL, ALL + " + len(x) * layer.out_features")],
        rung="job",
        check="test_values",
        says="bias",
    ),
    Wrong(
        "counts parameters",
        edits=[(ALL, "sum(p.numel() for p in layer.parameters())")],
        rung="job",
        check="test_values",
    ),
    Right(
        "counts while it runs",
        edits=[
            (
                f"    return {ALL}",
                "    with FlopCounterMode(display=False) as counter:\n        layer(x)\n    return counter.get_total_flops()",
            ),
            (
                "from torch import Tensor, nn",
                "from torch import Tensor, nn\nfrom torch.utils.flop_counter import FlopCounterMode",
            ),
        ],
    ),
    Right("by the weight", edits=[(ALL, "2 * x.shape[0] * layer.weight.numel()")]),
]
