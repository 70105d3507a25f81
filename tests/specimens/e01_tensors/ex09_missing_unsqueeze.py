"""Answers to missing_unsqueeze that people write."""

from grader.authoring.specimen import Right, Works, Wrong

COMPUTE = """    errors = predictions.squeeze(1) - targets  # (batch,)
    return (weights * errors**2).sum() / weights.sum()
"""
CHECK = "    if batch is None or weights.shape != (batch,) or predictions.shape != (batch, 1):\n"


def instead(compute):
    return [
        (COMPUTE, compute),
        ("from jaxtyping import Float\n", "import torch\nfrom jaxtyping import Float\n"),
    ]


SPECIMENS = [
    Wrong(
        "checks the shapes, then computes as before",
        edits=[("predictions.squeeze(1) - targets", "predictions - targets")],
        check="test_values",
        rung="job",
        says="each row meets all targets",
    ),
    Wrong(
        "divides by the number of rows",
        edits=[("/ weights.sum()", "/ len(weights)")],
        check="test_each_row_has_its_own_weight",
        rung="job",
        says="divided by the number of rows",
    ),
    Wrong(
        "squares the weights as well",
        edits=instead(
            "    return ((weights * (predictions.squeeze(1) - targets)) ** 2).sum() / weights.sum()\n"
        ),
        check="test_each_row_has_its_own_weight",
        rung="job",
        says="weights are squared with the errors",
    ),
    Wrong(
        "takes the diagonal of (batch, batch)",
        edits=instead(
            "    return (weights * (predictions - targets).diagonal() ** 2).sum() / weights.sum()\n"
        ),
        check="test_memory_in_proportion_to_the_batch",
        says="too much memory",
    ),
    Wrong(
        "a loop over rows",
        edits=instead("""
    total = 0
    for p, t, w in zip(predictions, targets, weights):
        total = total + w * (p[0] - t) ** 2
    return total / weights.sum()
"""),
        check="test_no_loop",
        rung="job",
        says="grows with batch",
    ),
    Wrong(
        "gives the caller's targets another shape",
        edits=instead("""
    targets.unsqueeze_(1)
    return (weights.unsqueeze(1) * (predictions - targets) ** 2).sum() / weights.sum()
"""),
        check="test_arguments_are_left_alone",
        says="changes",
    ),
    Wrong(
        "the sum of the weights as a number: no gradient through it",
        edits=[("/ weights.sum()", "/ weights.sum().item()")],
        check="test_gradients_of_targets_and_weights",
        says="weights",
    ),
    Wrong(
        "detaches the predictions",
        edits=[("predictions.squeeze(1) - targets", "predictions.detach().squeeze(1) - targets")],
        check="test_gradients",
        rung="job",
        says="no gradient",
    ),
    Wrong(
        "flattens whatever comes",
        code="""
def weighted_mse(predictions, targets, weights):
    predictions, targets, weights = predictions.reshape(-1), targets.reshape(-1), weights.reshape(-1)
    if not len(predictions) == len(targets) == len(weights):
        raise ValueError("lengths differ")
    return (weights * (predictions - targets) ** 2).sum() / weights.sum()
""",
        check="test_targets_of_another_shape",
        says="no error",
    ),
    Wrong(
        "checks nothing",
        code="""
def weighted_mse(predictions, targets, weights):
    errors = predictions[:, 0] - targets
    return (weights * errors**2).sum() / weights.sum()
""",
        check="test_weights_of_another_shape",
        says="no error",
    ),
    Wrong(
        "forgets to look at the weights",
        edits=[(CHECK, "    if batch is None or predictions.shape != (batch, 1):\n")],
        check="test_weights_of_another_shape",
    ),
    Wrong(
        "computes in float32, to be safe",
        edits=[
            (
                "    errors = predictions",
                "    predictions, targets = predictions.float(), targets.float()\n    errors = predictions",
            )
        ],
        check="test_dtype_is_kept",
        says="wrong values",
    ),
    Works(
        "squeeze, and mse_loss without reduction",
        code="""
import torch.nn.functional as F

def weighted_mse(predictions, targets, weights):
    errors = F.mse_loss(predictions.squeeze(), targets, reduction="none")
    return (weights * errors).sum() / weights.sum()
""",
    ),
    Works(
        "targets and weights as columns, as d2l reshapes them",
        code="""
def weighted_mse(predictions, targets, weights):
    squares = (predictions - targets.reshape(predictions.shape)) ** 2
    return (weights.reshape(predictions.shape) * squares).sum() / weights.sum()
""",
    ),
    Right(
        "everything as columns",
        code="""
import torch

def weighted_mse(predictions, targets, weights):
    if targets.dim() != 1 or targets.shape != weights.shape or predictions.shape != (*targets.shape, 1):
        raise ValueError("shapes")
    t, w = targets[:, None], weights[:, None]
    return torch.sum(w * torch.square(predictions - t)) / torch.sum(w)
""",
    ),
    Right(
        "a dot product with normalised weights",
        edits=instead(
            "    return torch.dot(weights / weights.sum(), (predictions[:, 0] - targets).pow(2))\n"
        ),
    ),
]
