"""Answers to export_program that must fail, and some that must pass."""

from grader.authoring.specimen import Right, Wrong

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
        "expands a single row: one that no model can look at with view",
        edits=[
            (TWICE, TWICE.replace("torch.cat([example, example])", "example.expand(2, *example.shape[1:])"))
        ],
        check="test_in_another_process",
        says="view",
    ),
    Wrong(
        "no more than 65536 rows",
        edits=[(DIM, 'torch.export.Dim("rows", max=65536)')],
        check="test_load_program",
        says="70000 rows",
    ),
    Wrong(
        "switches gradients off for good",
        edits=[(LAST, "    torch.set_grad_enabled(False)\n    return program\n")],
        check="test_load_program",
        says="gradients are off",
    ),
    Wrong(
        "an error of its own for what torch says",
        edits=[
            (
                "    finally:\n        for layer, training in modes:",
                "    except Exception as error:\n"
                '        raise ValueError("this model cannot be exported") from error\n'
                "    finally:\n        for layer, training in modes:",
            )
        ],
        check="test_refused",
        says="ValueError",
    ),
    Wrong(
        "runs the model itself first, whose state may count that",
        edits=[("        model.eval()\n", "        model.eval()\n        model(example)\n")],
        check="test_nothing_changes",
        says="runs",
    ),
    Wrong(
        "a fixed number of rows",
        edits=[(', dynamic_shapes=({0: torch.export.Dim("rows")},)', "")],
        check="test_in_another_process",
        says="rows",
    ),
    Wrong(
        "an example of one row as it is, and a hint that torch may ignore",
        edits=[(TWICE, ""), (DIM, "torch.export.Dim.AUTO")],
        check="test_in_another_process",
        says="rows",
    ),
    Wrong(
        "an example of one row as it is",
        edits=[(TWICE, "")],
        check="test_load_program",
    ),
    Wrong(
        "a hint that torch may ignore",
        edits=[(DIM, "torch.export.Dim.AUTO")],
        check="test_refused",
        says="no error",
    ),
    Wrong(
        "a program once loaded is kept by its path, whatever is there now",
        edits=[("def load_program(path", "import functools\n\n\n@functools.cache\ndef load_program(path")],
        check="test_load_program",
        says="a file that is new at path",
    ),
    Wrong(
        "three times the rows, and a hint that torch may ignore",
        edits=[(TWICE, "    example = torch.cat([example] * 3)\n"), (DIM, "torch.export.Dim.AUTO")],
        check="test_refused",
        says="no error",
    ),
    Wrong(
        "a fixed number of rows where there is an error",
        edits=[
            (
                EXPORT,
                "        try:\n    "
                + EXPORT
                + "        except Exception:\n            program = torch.export.export(model, (example,))\n",
            )
        ],
        check="test_refused",
        says="no error",
    ),
    Wrong(
        "as many rows as a tutorial allows",
        edits=[(DIM, 'torch.export.Dim("rows", max=1024)')],
        check="test_in_another_process",
        says="5000 rows",
    ),
    Wrong(
        "by the name of the argument",
        edits=[
            (
                'dynamic_shapes=({0: torch.export.Dim("rows")},)',
                'dynamic_shapes={"x": {0: torch.export.Dim("rows")}}',
            )
        ],
        check="test_in_another_process",
    ),
    Wrong(
        "an example in float32",
        edits=[(MODES, "    if example.is_floating_point():\n        example = example.float()\n" + MODES)],
        check="test_in_another_process",
    ),
    Wrong(
        "another example in float32",
        edits=[(TWICE, "    example = torch.randn(2, *example.shape[1:])\n")],
        check="test_load_program",
    ),
    Wrong("in training mode", edits=[(EVAL, "")], check="test_in_another_process"),
    Wrong(
        "stays in evaluation mode",
        edits=[(RESTORE, "        pass\n")],
        check="test_nothing_changes",
        says="training flags",
    ),
    Wrong(
        "back to training mode, all of it",
        edits=[(RESTORE, "        model.train()\n")],
        check="test_nothing_changes",
        says="training flags",
    ),
    Wrong(
        "restores only where nothing went wrong",
        edits=[("    try:\n", "    if True:\n"), ("    finally:\n", "    if True:\n")],
        check="test_refused",
        says="training flags",
    ),
    Wrong(
        "freezes the model",
        edits=[(EVAL, "        model.eval().requires_grad_(False)\n")],
        check="test_nothing_changes",
        says="requires_grad",
    ),
    Wrong(
        "makes room first",
        edits=[(MODES, "    Path(path).unlink(missing_ok=True)\n" + MODES)],
        check="test_refused",
        says="file at path",
    ),
    Wrong(
        "casts the model",
        edits=[(EVAL, EVAL + "        model.float()\n")],
        check="test_nothing_changes",
    ),
    Wrong(
        "pickles the whole model",
        edits=[
            (EXPORT, "        program = __import__('copy').deepcopy(model)\n"),
            (SAVE, "    torch.save(program, path)\n"),
            (LOAD, "    program = torch.load(path, weights_only=False)\n"),
        ],
        check="test_in_another_process",
        says="does not know your code",
    ),
    Wrong(
        "keeps the model in memory",
        edits=[
            ("\n\ndef export_program(", "\n\n_served = {}\n\n\ndef export_program("),
            (SAVE, SAVE + "    _served['last'] = program.module()\n"),
            (LOAD, "    open(path, 'rb').close()\n    program = _served['last']\n"),
        ],
        check="test_load_program",
    ),
    Wrong(
        "reads the file at each call",
        edits=[
            (
                LOAD + LAST,
                "    Path(path).stat()\n    return torch.no_grad()(lambda x: torch.export.load(path).module()(x))\n",
            )
        ],
        check="test_load_program",
    ),
    Wrong(
        "results with a graph",
        edits=[(LAST, "    return program\n")],
        check="test_load_program",
        says="gradient",
    ),
    Wrong(
        "an exported program, which cannot be called",
        edits=[(LOAD, "    program = torch.export.load(path)\n"), (LAST, "    return program\n")],
        check="test_load_program",
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
    Wrong(
        "cuts the example off from its graph in place",
        edits=[
            (
                "        program = torch.export.export(",
                "        example.requires_grad_(False)\n        program = torch.export.export(",
            )
        ],
        check="test_nothing_changes",
        says="requires_grad",
    ),
    Wrong(
        "switches gradients on behind each call, also for who had them off",
        edits=[
            (
                LAST,
                """
    def serve(x):
        torch.set_grad_enabled(False)
        try:
            return program(x)
        finally:
            torch.set_grad_enabled(True)

    return serve
""",
            )
        ],
        check="test_load_program",
        says="gradients are on",
    ),
    Wrong(
        "one buffer for all results of a size",
        edits=[
            (
                LAST,
                """    kept = {}

    @torch.no_grad()
    def serve(x):
        result = program(x)
        return kept.setdefault(result.shape, torch.empty_like(result)).copy_(result)

    return serve
""",
            )
        ],
        check="test_load_program",
        says="batch has been served",
    ),
    Wrong(
        "leaves gradients off where the program raises",
        edits=[
            (
                LAST,
                """
    def serve(x):
        before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)
        result = program(x)
        torch.set_grad_enabled(before)
        return result

    return serve
""",
            )
        ],
        check="test_load_program",
        says="too few features",
    ),
]
