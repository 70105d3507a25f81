"""The suite of how_far_from_the_teacher."""

import torch

from grader.checks.contract import Contract, given

STUDENT, TEACHER = torch.tensor([[0.0, 0.0]]), torch.tensor([[0.0, 2.0]])


def divergence(student, teacher):
    q, p = student.softmax(-1), teacher.softmax(-1)
    return (p * (p.log() - q.log())).sum() / len(p)


contract = Contract(
    "how_far_from_the_teacher(student, teacher)",
    reference=divergence,
    example=(given(STUDENT, TEACHER), divergence(STUDENT.double(), TEACHER.double()).float()),
    inputs=lambda gen: {
        f"{rows} rows of {classes} classes": given(
            *(2 * torch.randn(rows, classes, generator=gen) for _ in range(2))
        )
        for rows, classes in [(2, 5), (4, 4), (3, 7)]
    },
    suspects={
        "student and teacher change places: the student's logarithms come first": lambda student, teacher: (
            divergence(teacher, student)
        ),
        "it is divided by all numbers: reduction='batchmean' divides by the rows": (
            lambda student, teacher: divergence(student, teacher) / student.shape[1]
        ),
        "that is a sum over the rows: their mean is meant": lambda student, teacher: (
            divergence(student, teacher) * len(student)
        ),
        "this is the cross entropy: the teacher's own log p is missing": lambda student, teacher: (
            -(teacher.softmax(-1) * student.log_softmax(-1)).sum(-1).mean()
        ),
        "logits were given: log_softmax makes logarithms of probabilities": lambda student, teacher: (
            torch.nn.functional.kl_div(student, teacher, log_target=True, reduction="batchmean")
        ),
        "the student's probabilities were given: kl_div takes their logarithms": lambda student, teacher: (
            torch.nn.functional.kl_div(
                student.softmax(-1), teacher.log_softmax(-1), log_target=True, reduction="batchmean"
            )
        ),
    },
)
