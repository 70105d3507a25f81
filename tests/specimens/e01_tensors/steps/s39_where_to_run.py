"""Answers to where_to_run."""

from grader.authoring.specimen import Right, Wrong

CUDA, MPS, MOVE = "torch.cuda.is_available()", "torch.backends.mps.is_available()", "return x.to(device)"

SPECIMENS = [
    Wrong(
        "a Mac is forgotten",
        edits=[(f'"mps" if {MPS} else "cpu"', '"cpu"')],
        rung="job",
        check="test_best_device",
        says="only mps",
    ),
    Wrong("always cuda", edits=[(CUDA, "True")], rung="job", check="test_best_device", says="only mps"),
    Wrong(
        "x itself does not move",
        edits=[(MOVE, "x.to(device)\n    return x")],
        rung="job",
        check="test_move",
        says="x itself does not move",
    ),
    Wrong(
        "the name of the device", edits=[(MOVE, "return x.to(best_device())")], rung="job", check="test_move"
    ),
    Right(
        "a torch.device, and zeros that are filled",
        edits=[
            ('return "cuda"', 'return torch.device("cuda")'),
            (MOVE, "return torch.empty(x.shape, dtype=x.dtype, device=device).copy_(x)"),
        ],
    ),
    Right(
        "the worst first",
        edits=[
            (f'if {CUDA}:\n        return "cuda"', 'best = "cpu"'),
            (
                f'return "mps" if {MPS} else "cpu"',
                f'if {MPS}:\n        best = "mps"\n    if {CUDA}:\n        best = "cuda"\n    return best',
            ),
        ],
    ),
]
