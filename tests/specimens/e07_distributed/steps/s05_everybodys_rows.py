"""Answers to everybodys_rows."""

from grader.authoring.specimen import Right, Wrong

PARTS = "[torch.empty_like(x) for _ in range(dist.get_world_size())]"

SPECIMENS = [
    Wrong(
        "one tensor, several times",
        edits=[(PARTS, "[torch.empty_like(x)] * dist.get_world_size()")],
        rung="job",
        check="test_values",
        says="several times",
    ),
    Wrong(
        "stacks",
        edits=[("torch.cat(parts)", "torch.stack(parts)")],
        rung="job",
        check="test_values",
        says="torch.cat",
    ),
    Wrong(
        "side by side",
        edits=[("cat(parts)", "cat(parts, 1)")],
        rung="job",
        check="test_worked_example",
        says="side by side",
    ),
    Wrong(
        "an empty list",
        edits=[(PARTS, "[]")],
        rung="job",
        check="test_worked_example",
    ),
    Wrong(
        "its own rows first",
        edits=[("torch.cat(parts)", "torch.cat([x, *(p for p in parts if not torch.equal(p, x))])")],
        rung="job",
        check="test_values",
    ),
    Right(
        "into one tensor",
        edits=[
            (
                f"    parts = {PARTS}\n    dist.all_gather(parts, x)\n    return torch.cat(parts)  # (ranks · rows, columns)",
                "    rows = x.repeat(dist.get_world_size(), 1)\n    dist.all_gather_into_tensor(rows, x)\n    return rows",
            )
        ],
    ),
    Right(
        "adds up tables of zeros",
        edits=[
            (
                f"    parts = {PARTS}\n    dist.all_gather(parts, x)\n    return torch.cat(parts)  # (ranks · rows, columns)",
                "    table = torch.zeros(dist.get_world_size(), *x.shape)\n    table[dist.get_rank()] = x\n"
                "    dist.all_reduce(table)\n    return table.flatten(0, 1)",
            )
        ],
    ),
]
