"""Answers to export_program that people write."""

from grader.authoring.specimen import Right, Works, Wrong

TWICE = """    if len(example) == 1:
        example = torch.cat([example, example])  # a size of 1 would be taken for a constant
"""
MODES = "    modes = [(layer, layer.training) for layer in model.modules()]\n"
EVAL = "        model.eval()\n"
EXPORT = (
    "        program = torch.export.export"
    '(model, (example,), dynamic_shapes=({0: torch.export.Dim("rows")},))\n'
)
DIM = 'torch.export.Dim("rows")'
RESTORE = """        for layer, training in modes:
            layer.training = training
"""
SAVE = "    torch.export.save(program, path)\n"
LOAD = "    program = torch.export.load(path).module()\n"
LAST = "    return torch.no_grad()(program)\n"

SPECIMENS = [
    Wrong(
        "a fixed number of rows",
        edits=[(', dynamic_shapes=({0: torch.export.Dim("rows")},)', "")],
        check="test_worked_example",
        rung="job",
        says="does not take three rows",
    ),
    Wrong("in training mode", edits=[(EVAL, "")], check="test_any_number_of_rows", rung="job"),
    Wrong(
        "by the name of the argument",
        edits=[
            (
                'dynamic_shapes=({0: torch.export.Dim("rows")},)',
                'dynamic_shapes={"x": {0: torch.export.Dim("rows")}}',
            )
        ],
        check="test_any_number_of_rows",
        rung="job",
    ),
    Wrong(
        "another example in float32",
        edits=[(TWICE, "    example = torch.randn(2, *example.shape[1:])\n")],
        check="test_any_number_of_rows",
        rung="job",
    ),
    Wrong(
        "pickles the whole model",
        edits=[
            (EXPORT, "        program = __import__('copy').deepcopy(model)\n"),
            (SAVE, "    torch.save(program, path)\n"),
            (LOAD, "    program = torch.load(path, weights_only=False)\n"),
        ],
        check="test_in_another_process",
        rung="job",
    ),
    Wrong(
        "keeps the model in memory",
        edits=[
            ("\n\ndef export_program(", "\n\n_served = {}\n\n\ndef export_program("),
            (SAVE, SAVE + "    _served['last'] = program.module()\n"),
            (LOAD, "    open(path, 'rb').close()\n    program = _served['last']\n"),
        ],
        check="test_any_number_of_rows",
        rung="job",
    ),
    Wrong(
        "an exported program, which cannot be called",
        edits=[(LOAD, "    program = torch.export.load(path)\n"), (LAST, "    return program\n")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "an example of one row as it is",
        edits=[(TWICE, "")],
        check="test_one_row",
    ),
    Wrong(
        "expands a single row: one that no model can look at with view",
        edits=[
            (TWICE, TWICE.replace("torch.cat([example, example])", "example.expand(2, *example.shape[1:])"))
        ],
        check="test_one_row",
    ),
    Wrong(
        "a hint that torch may ignore",
        edits=[(DIM, "torch.export.Dim.AUTO")],
        check="test_refused",
        says="no error",
    ),
    Wrong(
        "back to training mode, all of it",
        edits=[(RESTORE, "        model.train()\n")],
        check="test_modes_come_back",
        says="training flags",
    ),
    Wrong(
        "restores only where nothing went wrong",
        edits=[("    try:\n", "    if True:\n"), ("    finally:\n", "    if True:\n")],
        check="test_refused",
        says="training flags",
    ),
    Wrong(
        "results with a graph",
        edits=[(LAST, "    return program\n")],
        check="test_no_graph",
        says="requires a gradient",
    ),
    Works(
        "the tutorial's, with the name of no argument",
        code="""
import torch
from torch.export import Dim


def export_program(model, example, path):
    model.eval()
    batch = Dim("batch", min=1, max=1024)
    exported = torch.export.export(model, (example,), dynamic_shapes=({0: batch},))
    torch.export.save(exported, path)


def load_program(path):
    return torch.export.load(path).module()
""",
    ),
    Works(
        "a dimension that torch calls automatic",
        code="""
import torch


def export_program(model, example, path):
    dynamic = ({0: torch.export.Dim.AUTO},)
    with torch.no_grad():
        program = torch.export.export(model.eval(), args=(example,), dynamic_shapes=dynamic)
    torch.export.save(program, str(path))
    model.train()


def load_program(path):
    module = torch.export.load(str(path)).module()

    def serve(x):
        with torch.no_grad():
            return module(x)

    return serve
""",
    ),
    Right(
        "a copy of the model, a hint that must hold, a class that serves",
        edits=[
            (
                TWICE + MODES,
                """    import copy

    model = copy.deepcopy(model)
    rows = example.expand(3, *example.shape[1:]).contiguous() if example.shape[0] == 1 else example
""",
            ),
            (
                "    try:\n"
                + EVAL
                + "        # with a name of its own, the number of rows is a variable, or else an error\n"
                + EXPORT
                + "    finally:\n"
                + RESTORE,
                """    model.train(False)
    shape = [torch.export.Dim.STATIC] * rows.dim()
    shape[0] = torch.export.Dim.DYNAMIC
    with torch.inference_mode(False), torch.no_grad():
        program = torch.export.export(model, args=(rows,), dynamic_shapes=[tuple(shape)], strict=False)
""",
            ),
            (SAVE, "    with Path(path).open('wb') as file:\n        torch.export.save(program, file)\n"),
            (
                LOAD + LAST,
                """    with open(path, "rb") as file:
        graph = torch.export.load(file).module()

    class Served:
        def __call__(self, x):
            with torch.no_grad():
                return graph(x).detach()

    return Served()
""",
            ),
        ],
    ),
    Right(
        "three times the rows, a dimension that insists, inference without recording",
        edits=[
            (TWICE, "    example = torch.cat([example] * 3)\n"),
            (DIM, "torch.export.Dim.DYNAMIC"),
            (LAST, "    return torch.inference_mode()(program)\n"),
        ],
    ),
]
