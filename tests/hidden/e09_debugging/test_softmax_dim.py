"""What grades ReviewClassifier: reviews of several sizes, in any company; large scores, dtype, loops."""

import torch

from grader.checks import expect_close
from grader.checks.contract import Contract, dtypes, flat_cost, given, values

DIM, CLASSES = 4, 3


def parameters():
    """Of the model that all checks use, by name, in float64."""
    numbers = (
        torch.linspace(-1.5, 1.4, DIM * (CLASSES + 1) + CLASSES + 1, dtype=torch.float64)
        .sin()
        .mul(64)
        .round()
        / 64
    )
    sizes = {
        "score.weight": (1, DIM),
        "score.bias": (1,),
        "head.weight": (CLASSES, DIM),
        "head.bias": (CLASSES,),
    }
    parts = numbers.split([DIM, 1, CLASSES * DIM, CLASSES])
    return {name: part.view(size) for part, (name, size) in zip(parts, sizes.items(), strict=True)}


def classifier(answer, tokens):
    model = answer.ReviewClassifier(DIM, CLASSES)
    model.load_state_dict(parameters())
    return model.to(tokens.dtype)


def logits(x):
    p = parameters()
    return x @ p["head.weight"].T + p["head.bias"]


def weights(x, mask):
    """Review by review."""
    p, out = parameters(), torch.zeros(mask.shape, dtype=torch.float64)
    for row, review, keep in zip(out, x, mask, strict=True):
        row[keep] = (review[keep] @ p["score.weight"][0] + p["score.bias"]).softmax(0)
    return out


def classes(x, mask):
    """Likewise, from the weighted sum of the tokens."""
    sums = [(w[:, None] * review.masked_fill(~keep[:, None], 0)).sum(0)
            for w, review, keep in zip(weights(x, mask), x, mask, strict=True)]  # fmt: skip
    return logits(torch.stack(sums)).log_softmax(1)


def reviews(size=1.0):
    def draw(gen):
        sizes = {
            "three reviews of five tokens": (3, 5),
            "as many reviews as tokens and classes": (3, 3),
            "a review alone": (1, 4),
            "five reviews of two tokens": (5, 2),
        }
        found = {}
        for about, (batch, time) in sizes.items():
            mask = torch.rand(batch, time, generator=gen) < 0.6
            mask[torch.arange(batch), torch.randint(time, (batch,), generator=gen)] = True
            found[about] = given(size * torch.randn(batch, time, DIM, generator=gen), mask)
        return found

    return draw


def tokens_alone(size=1.0):
    return lambda gen: {about: given(case.args[0]) for about, case in reviews(size)(gen).items()}


def large(inputs):
    title = "Scores and logits may be as large as 1e4."
    return values(inputs=inputs, name="large", title=title, ulps=1e3, scale=1e4)


token_weights = Contract(
    "token_weights(tokens, mask)",
    use=lambda answer, tokens, mask: classifier(answer, tokens).token_weights(tokens, mask),
    reference=weights,
    inputs=reviews(),
    dims="batch time",
    ulps=200,
    fine=[large(reviews(3e3)), dtypes(torch.float64)],
)
forward = Contract(
    "model(tokens, mask)",
    use=lambda answer, tokens, mask: classifier(answer, tokens)(tokens, mask),
    reference=classes,
    inputs=reviews(),
    dims="batch classes",
    ulps=200,
    scale=4.0,
    fine=[
        large(reviews(3e3)),
        dtypes(torch.float64),
        flat_cost(lambda n: (torch.ones(n, 3, DIM), torch.ones(n, 3, dtype=torch.bool)), over="reviews"),
    ],
)
token_classes = Contract(
    "token_classes(tokens)",
    use=lambda answer, tokens: classifier(answer, tokens).token_classes(tokens),
    reference=lambda x: logits(x).softmax(2),
    inputs=tokens_alone(),
    dims="batch time classes",
    ulps=200,
    fine=[large(tokens_alone(3e3)), dtypes(torch.float64)],
)


def test_other_company(answer, gen):
    """A review gets the same result alone as in company, and with more padding."""
    tokens, mask = reviews()(gen)["three reviews of five tokens"].args
    model = classifier(answer, tokens)
    together = model(tokens, mask).detach()
    for i in range(len(tokens)):
        alone = model(tokens[i : i + 1], mask[i : i + 1]).detach()
        wanted = together[i : i + 1]
        expect_close(alone, wanted, f"model(…) for review {i} alone", ulps=200, scale=4.0)
    longer, more = (torch.cat([t, torch.zeros_like(t[:, :2])], dim=1) for t in (tokens, mask))
    expect_close(model(longer, more).detach(), together, "model(…) with more padding", ulps=200, scale=4.0)
    own = model.token_classes(tokens).detach()
    expect_close(
        model.token_classes(longer)[:, :5].detach(), own, "token_classes of longer reviews", ulps=200
    )
