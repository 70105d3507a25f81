"""Answers to wrap_in_ddp."""

from grader.authoring.specimen import Right, Wrong

WRAP = "wrapped = DistributedDataParallel(model)\n"

SPECIMENS = [
    Wrong(
        "calls the model itself",
        edits=[("wrapped(x)", "model(x)")],
        rung="job",
        check="test_worked_example",
        says="call wrapped(x)",
    ),
    Wrong(
        "does not wrap",
        edits=[(WRAP, "wrapped = model\n")],
        rung="job",
        check="test_worked_example",
        says="does not return the wrapped model",
    ),
    Wrong(
        "wraps after the step",
        edits=[
            ("    " + WRAP, ""),
            ("wrapped.parameters()", "model.parameters()"),
            ("wrapped(x)", "model(x)"),
            ("return wrapped", "return DistributedDataParallel(model)"),
        ],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "no step",
        edits=[("    optimizer.step()\n", "")],
        rung="job",
        check="test_values",
        says="no step",
    ),
    Wrong(
        "adds the losses of the rows up",
        edits=[("F.mse_loss(wrapped(x), y)", "((wrapped(x) - y) ** 2).sum()")],
        rung="job",
        check="test_values",
    ),
    Right(
        "the module's parameters and a loss by hand",
        edits=[
            ("wrapped.parameters()", "wrapped.module.parameters()"),
            ("F.mse_loss(wrapped(x), y)", "((wrapped(x) - y) ** 2).mean()"),
            ("    optimizer.zero_grad()\n", ""),
        ],
    ),
    Right(
        "the optimizer before the wrapper",
        edits=[
            (
                "    wrapped = DistributedDataParallel(model)\n    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)\n",
                "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n    wrapped = nn.parallel.DistributedDataParallel(model)\n",
            ),
            ("F.mse_loss(", "nn.MSELoss()("),
        ],
    ),
]
