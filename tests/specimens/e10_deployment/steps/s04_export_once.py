"""Answers to export_once."""

from grader.authoring.specimen import Right, Wrong

EVAL, EXPORT = "    model.eval()\n", "torch.export.export(model, (x,))"

SPECIMENS = [
    Wrong("no eval", edits=[(EVAL, "")], rung="job", check="test_values", says="model.eval()"),
    Wrong("no tuple", edits=[("(x,)", "(x)")], rung="job", check="test_worked_example", says="a tuple"),
    Wrong(
        "the result",
        edits=[(EXPORT, EXPORT + ".module()(x)")],
        rung="job",
        check="test_worked_example",
        says="returns no exported program",
    ),
    Wrong(
        "the model",
        edits=[(EXPORT, "model")],
        rung="job",
        check="test_worked_example",
        says="returns no exported program",
    ),
    Wrong(
        "the program called",
        edits=[("program.module()(other)", "program(other)")],
        rung="job",
        check="test_worked_example",
        says="`program.module()` can be called",
    ),
    Right("in one line", edits=[(EVAL, ""), (EXPORT, "torch.export.export(model.eval(), args=(x,))")]),
    Right(
        "strict, back in training mode",
        edits=[
            (
                "    return " + EXPORT,
                "    program = torch.export.export(model.train(False), tuple([x]), strict=True)\n    model.train()\n    return program",
            )
        ],
    ),
]
