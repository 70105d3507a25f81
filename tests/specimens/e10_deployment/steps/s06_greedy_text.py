"""Answers to greedy_text."""

from grader.authoring.specimen import Right, Wrong

LOOP, ASK = "    for _ in range(n):\n", "model(ids)[:, -1]"
CAT = "        ids = torch.cat([ids, following], dim=1)\n"

SPECIMENS = [
    Wrong(
        "the text that was given",
        edits=[
            (LOOP, "    text = ids\n" + LOOP),
            (CAT, CAT.replace("ids", "text")),
            ("return ids", "return text"),
        ],
        rung="job",
        check="test_worked_example",
        says="the first text each time",
    ),
    Wrong(
        "the new tokens",
        edits=[("return ids", "return ids[:, -n:]")],
        rung="job",
        check="test_worked_example",
        says="return the whole text",
    ),
    Wrong(
        "the first token",
        edits=[("[:, -1]", "[:, 0]")],
        rung="job",
        check="test_values",
        says="[:, -1]",
    ),
    Wrong(
        "one token",
        edits=[("    return ids", "        return ids")],
        rung="job",
        check="test_worked_example",
        says="one token was added",
    ),
    Wrong(
        "no keepdim", edits=[(", keepdim=True", "")], rung="job", check="test_worked_example", says="keepdim"
    ),
    Right(
        "all argmaxes, the last one kept",
        edits=[(ASK + ".argmax(dim=-1, keepdim=True)", "model(ids).argmax(dim=-1)[:, -1:]")],
    ),
    Right(
        "a list of columns",
        edits=[
            (LOOP, "    columns = list(ids.unbind(1))\n    for _ in range(n):\n"),
            (
                ASK + ".argmax(dim=-1, keepdim=True)",
                "model(torch.stack(columns, 1)).softmax(-1)[:, -1].argmax(-1)",
            ),
            (CAT, "        columns.append(following)\n"),
            ("return ids", "return torch.stack(columns, dim=1)"),
        ],
    ),
]
