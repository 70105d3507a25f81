"""Answers to the_same_everywhere."""

from grader.authoring.specimen import Right, Wrong

CALL = "dist.broadcast(p, src=0)"
LOOP = f"    with torch.no_grad():\n        for p in model.parameters():\n            {CALL}\n"

SPECIMENS = [
    Wrong(
        "broadcasts a copy",
        edits=[(CALL, "dist.broadcast(p.clone(), src=0)")],
        rung="job",
        check="test_values",
        says="still has its own",
    ),
    Wrong(
        "only rank 0 calls",
        edits=[
            (
                "    with torch.no_grad()",
                "    if dist.get_rank() != 0:\n        return\n    with torch.no_grad()",
            )
        ],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "the last rank's",
        edits=[("src=0", "src=dist.get_world_size() - 1")],
        rung="job",
        check="test_values",
        says="the last rank",
    ),
    Wrong(
        "the weights without the biases",
        edits=[("            " + CALL, "            if p.dim() == 2:\n                " + CALL)],
        rung="job",
        check="test_worked_example",
        says="model.bias",
    ),
    Wrong(
        "each rank is its own source",
        edits=[("src=0", "src=dist.get_rank()")],
        rung="job",
        check="test_worked_example",
    ),
    Right(
        "one message for all",
        edits=[
            (
                LOOP,
                "    numbers = nn.utils.parameters_to_vector(model.parameters()).detach()\n"
                "    dist.broadcast(numbers, 0)\n"
                "    nn.utils.vector_to_parameters(numbers, model.parameters())\n",
            )
        ],
    ),
    Right(
        "by the state dict",
        edits=[(LOOP, "    for tensor in model.state_dict().values():\n        dist.broadcast(tensor, 0)\n")],
    ),
]
