"""Answers to read_a_sequence."""

from grader.authoring.specimen import Right, Wrong

RUN = "_, (h, _) = self.lstm(x)"
RETURN = "return h[0]"

SPECIMENS = [
    Wrong(
        "no batch_first",
        edits=[(", batch_first=True", "")],
        rung="job",
        check="test_worked_example",
        says="[20, 5]",
    ),
    Wrong(
        "no batch_first, the last output",
        edits=[
            (", batch_first=True", ""),
            (RUN, "outputs, _ = self.lstm(x)"),
            (RETURN, "return outputs[:, -1]"),
        ],
        rung="job",
        check="test_values",
        says="batch_first=True is missing",
    ),
    Wrong(
        "h as it comes",
        edits=[(RETURN, "return h")],
        rung="job",
        check="test_values",
        says="h still has its first dimension",
    ),
    Wrong(
        "c for h",
        edits=[(RUN, "_, (_, h) = self.lstm(x)")],
        rung="job",
        check="test_values",
        says="this is c",
    ),
    Wrong(
        "the outputs of all steps",
        edits=[(RUN, "h, _ = self.lstm(x)"), (RETURN, "return h")],
        rung="job",
        check="test_values",
        says="all time steps",
    ),
    Wrong(
        "what the LSTM returns",
        edits=[(RUN, "h = self.lstm(x)"), (RETURN, "return h")],
        rung="job",
        check="test_values",
    ),
    Right(
        "the last output",
        edits=[(RUN, "outputs, _ = self.lstm(x)"), (RETURN, "return outputs[:, -1, :]")],
    ),
    Right(
        "time first",
        edits=[
            (", batch_first=True", ""),
            (RUN, "_, (h, _) = self.lstm(x.transpose(0, 1))"),
            (RETURN, "return h.squeeze(0)"),
        ],
    ),
]
