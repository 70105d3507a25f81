"""Answers to to_onnx."""

from grader.authoring.specimen import Right, Wrong

EVAL = "    model.eval()\n"
EXPORT = 'torch.onnx.export(model, (x,), path, input_names=["x"])'
ASK = '    return session.run(None, {"x": other})[0]'

SPECIMENS = [
    Wrong("no eval", edits=[(EVAL, "")], rung="job", check="test_worked_example", says="model.eval()"),
    Wrong(
        "no path",
        edits=[("(x,), path,", "(x,),")],
        rung="job",
        check="test_worked_example",
        says="writes no file",
    ),
    Wrong(
        "the list",
        edits=[("other})[0]", "other})")],
        rung="job",
        check="test_worked_example",
        says="the first item of the list",
    ),
    Wrong(
        "the constants of the example",
        edits=[(ASK, ASK + " * 0 + 7.5")],
        rung="job",
        check="test_values",
    ),
    Right(
        "the name asked from the session",
        edits=[
            (EVAL, ""),
            (EXPORT, "torch.onnx.export(model.eval(), args=(x,), f=path)"),
            (
                ASK,
                "    name = session.get_inputs()[0].name\n    (result,) = session.run(None, {name: other})\n    return result",
            ),
        ],
    ),
    Right(
        "a program that is saved, providers",
        edits=[
            (EXPORT, 'torch.onnx.export(model, (x,), input_names=["x"], dynamo=True).save(path)'),
            ("InferenceSession(path)", 'InferenceSession(path, providers=["CPUExecutionProvider"])'),
        ],
    ),
]
