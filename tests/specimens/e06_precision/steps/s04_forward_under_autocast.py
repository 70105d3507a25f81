"""Answers to forward_under_autocast."""

from grader.authoring.specimen import Right, Wrong

BLOCK = "    with torch.autocast(x.device.type, dtype=torch.bfloat16):\n        y = model(x)\n"

SPECIMENS = [
    Wrong(
        "not cast back",
        edits=[("y.float()", "y")],
        rung="job",
        check="test_values",
        says="still in bfloat16",
    ),
    Wrong(
        "the call outside",
        edits=[
            (
                BLOCK,
                "    with torch.autocast(x.device.type, dtype=torch.bfloat16):\n        pass\n    y = model(x)\n",
            )
        ],
        rung="job",
        check="test_values",
        says="autocast was off",
    ),
    Wrong(
        "the model cast",
        edits=[(BLOCK, "    y = model.bfloat16()(x.bfloat16())\n")],
        rung="job",
        check="test_weights_stay",
        says="the model itself was cast",
    ),
    Wrong(
        "rounded at the end",
        edits=[(BLOCK, "    y = model(x).bfloat16()\n")],
        rung="job",
        check="test_values",
    ),
    Right(
        "on the CPU by name, returned from the block",
        edits=[
            (
                BLOCK + "    return y.float()",
                '    with torch.autocast("cpu", torch.bfloat16):\n        return model(x).to(torch.float32)',
            )
        ],
    ),
    Right(
        "as a decorator, without a graph",
        edits=[
            (
                BLOCK,
                "    run = torch.autocast(x.device.type, dtype=torch.bfloat16)(model)\n    with torch.no_grad():\n        y = run(x)\n",
            ),
        ],
    ),
]
