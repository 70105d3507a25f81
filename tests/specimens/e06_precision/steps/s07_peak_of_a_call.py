"""Answers to peak_of_a_call."""

from grader.authoring.specimen import Right, Wrong

ALONE = "return fn(), None"

SPECIMENS = [
    Wrong(
        "nothing without a GPU",
        edits=[(ALONE, "return None")],
        rung="job",
        check="test_without_a_gpu",
        says="no pair",
    ),
    Wrong(
        "0 bytes without a GPU",
        edits=[(ALONE, "return fn(), 0")],
        rung="job",
        check="test_without_a_gpu",
        says="None",
    ),
    Wrong(
        "called twice",
        edits=[(ALONE, "fn()\n        " + ALONE)],
        rung="job",
        check="test_called_once",
    ),
    Wrong(
        "the function itself",
        edits=[(ALONE, "return fn, None")],
        rung="job",
        check="test_without_a_gpu",
    ),
    Right(
        "called first of all where there is no GPU",
        edits=[
            (
                "    if not torch.cuda.is_available():\n        return fn(), None\n",
                "    gpu = torch.cuda.is_available()\n    if not gpu:\n        result = fn()\n        return result, None\n    torch.cuda.synchronize()\n    torch.cuda.empty_cache()\n",
            ),
        ],
    ),
    Right(
        "if and else",
        code="""
import torch

def peak_of_a_call(fn):
    if torch.cuda.is_available():
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        result = fn()
        peak = torch.cuda.max_memory_allocated()
        return result, peak - before
    else:
        return fn(), None
""",
    ),
]
