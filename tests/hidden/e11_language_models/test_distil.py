"""What grades distil: both parts, the temperature, positions that count; the teacher, large logits."""

from functools import partial

import torch
from torch.nn import functional as F

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    given,
    gradients,
    half_precision,
    strides,
    untouched,
    values,
)


def exact(
    student,
    teacher,
    targets,
    temperature=2.0,
    alpha=0.5,
    ignore_index=-100,
    soften=lambda teacher, student, t: (teacher / t, student / t),
    dim=-1,
    apart=lambda log_p, log_q: (log_p.exp() * (log_p - log_q)).sum(-1),
    power=2,
    average=lambda apart, counted, vocab: apart[counted].mean(),
    hard=1.0,
    swapped=False,
):
    """The loss; what comes after `ignore_index` is as people get it wrong."""
    counted = targets.ne(ignore_index)
    log_p, log_q = (x.log_softmax(dim) for x in soften(teacher.detach(), student, temperature))
    soft = temperature**power * average(apart(log_p, log_q), counted, student.shape[-1])
    own = F.cross_entropy(student[counted] / temperature ** (1 - hard), targets[counted])
    return (1 - alpha) * soft + alpha * own if swapped else alpha * soft + (1 - alpha) * own


def wrong(**how):
    return partial(exact, **how)


def batch(gen, *sizes, ignored=0.0, size=2.0, **options):
    """Logits of both, and targets, of which some are ignored; never the first."""
    student, teacher = (size * torch.randn(sizes, generator=gen) for _ in range(2))
    targets = torch.randint(sizes[2] - 1, sizes[:2], generator=gen) + 1  # never token 0
    out = torch.rand(sizes[:2], generator=gen) < ignored
    out[0, 0] = False
    targets[out] = options.get("ignore_index", -100)
    return given(student, teacher, targets, **options)


def ordinary(gen):
    return {
        "two sequences": batch(gen, 2, 3, 5, temperature=3.0, alpha=0.8),
        "as many tokens as positions": batch(gen, 4, 4, 4, alpha=0.3),
        "positions that are ignored": batch(gen, 3, 5, 4, ignored=0.4, temperature=1.5),
        "ignore_index=0": batch(gen, 3, 6, 5, ignored=0.5, temperature=4.0, alpha=0.9, ignore_index=0),
        "the teacher alone": batch(gen, 2, 4, 3, ignored=0.3, alpha=1.0),
    }


def teachers(gen):
    """Whether the teacher has a gradient is seen at the student's and its own."""
    return {"a teacher that requires a gradient": batch(gen, 2, 3, 4, ignored=0.3, temperature=3.0)}


contract = Contract(
    "distillation_loss(student, teacher, targets, temperature, alpha, ignore_index)",
    reference=exact,
    inputs=ordinary,
    gradient="student",
    ulps=100,
    suspects={
        "T² is missing in front of the first part": wrong(power=0),
        "T stands where T² is asked for": wrong(power=1),
        "the first part is divided by the number of sequences ('batchmean'): positions are asked for": wrong(
            average=lambda apart, counted, vocab: apart.sum() / len(apart)
        ),
        "the first part is divided by the vocabulary as well ('mean'): it is a sum over tokens": wrong(
            average=lambda apart, counted, vocab: apart[counted].mean() / vocab
        ),
        "ignored positions count in the first part": wrong(
            average=lambda apart, counted, vocab: apart.mean()
        ),
        "the first part is divided by all positions: only those that count are asked for": wrong(
            average=lambda apart, counted, vocab: apart[counted].sum() / counted.numel()
        ),
        "p and q are swapped: the teacher's p weighs": wrong(
            apart=lambda log_p, log_q: (log_q.exp() * (log_q - log_p)).sum(-1)
        ),
        "kl_div takes q as a logarithm, and got the softmax": wrong(
            apart=lambda log_p, log_q: (log_p.exp() * (log_p - log_q.exp())).sum(-1)
        ),
        "log p is missing: that is the cross-entropy with p": wrong(
            apart=lambda log_p, log_q: -(log_p.exp() * log_q).sum(-1)
        ),
        "alpha weighs the part with the targets: it belongs to the teacher's": wrong(swapped=True),
        "the temperature softens the second part as well": wrong(hard=0.0),
        "the student is not softened": wrong(soften=lambda teacher, student, t: (teacher / t, student)),
        "the teacher is not softened": wrong(soften=lambda teacher, student, t: (teacher, student / t)),
        "logits are multiplied by the temperature": wrong(
            soften=lambda teacher, student, t: (teacher * t, student * t)
        ),
        "softmax runs over time: the vocabulary is the last dimension": wrong(dim=1),
    },
    fine=[
        gradients(
            "student teacher",
            inputs=teachers,
            name="teacher",
            title="The teacher gets no gradient, also where it requires one.",
        ),
        values(
            inputs=lambda gen: {"logits up to 1000": batch(gen, 2, 3, 4, size=500.0)},
            name="large_logits",
            title="Logits of 1000 give a finite loss.",
        ),
        gradients(
            "student",
            inputs=lambda gen: {"logits up to 1000": batch(gen, 2, 3, 4, size=500.0)},
            name="gradients_of_large_logits",
            title="Logits of 1000 give finite gradients.",
            scale=1000.0,
        ),
        half_precision(
            inputs=lambda gen: {
                "two sequences": batch(gen, 2, 6, 9, ignored=0.3),
                "a high temperature": batch(gen, 2, 6, 9, temperature=30.0),
            }
        ),
        dtypes(torch.float64),
        strides(),
        untouched(),
        device(),
    ],
)
