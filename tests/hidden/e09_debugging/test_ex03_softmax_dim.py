"""What grades ReviewClassifier and predict: each review by itself, padding, gradients, large logits."""

import copy

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_flat_cost, expect_that, unchanged

SIZES = [(3, 5, 4, 2), (4, 4, 4, 4), (1, 3, 2, 5), (5, 1, 3, 2), (2, 6, 3, 1), (1, 1, 1, 1), (2, 3, 5, 3)]
"""Batch, time, dim and classes."""


def classifier(answer, gen, dim, classes, dtype=torch.float32, scale=1.0):
    model = answer.ReviewClassifier(dim, classes).to(dtype)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(scale * torch.randn(p.shape, generator=gen, dtype=torch.float64))
    return model


def reviews(gen, batch, time, dim, dtype=torch.float32):
    """Tokens and a mask, with padding in front, behind and between, and one review without any."""
    tokens = torch.randn(batch, time, dim, generator=gen, dtype=dtype)
    mask = torch.rand(batch, time, generator=gen) < 0.6
    if batch:
        mask[torch.arange(batch), torch.randint(time, (batch,), generator=gen)] = True
        mask[batch // 2] = True
    return tokens, mask


def exact(model, tokens, mask):
    """Review by review, in float64: weights, log-probabilities, classes of each token."""
    p = {name: t.detach().double() for name, t in model.state_dict().items()}
    weights, logs, classes = [], [], []
    for review, keep in zip(tokens.double(), mask, strict=True):
        scores = review[keep] @ p["score.weight"][0] + p["score.bias"]
        own = scores.softmax(0)
        weights.append(torch.zeros(len(keep), dtype=torch.float64).masked_scatter(keep, own))
        logs.append((p["head.weight"] @ (own @ review[keep]) + p["head.bias"]).log_softmax(0))
        classes.append((review @ p["head.weight"].T + p["head.bias"]).softmax(1))
    return torch.stack(weights), torch.stack(logs), torch.stack(classes)


def expect_right(answer, model, tokens, mask, note="", **rough):
    dtype = tokens.dtype
    wanted = [t.detach().to(dtype) for t in exact(model, tokens, mask)]
    with unchanged("the model's methods", tokens=tokens, mask=mask):
        weights = model.token_weights(tokens, mask)
        logs = model(tokens, mask)
        classes = model.token_classes(tokens)
    expect_close(
        weights.detach(), wanted[0], f"token_weights(tokens, mask){note}", dims="batch time", **rough
    )
    expect_close(logs.detach(), wanted[1], f"model(tokens, mask){note}", dims="batch classes", **rough)
    expect_close(
        classes.detach(), wanted[2], f"token_classes(tokens){note}", dims="batch time classes", **rough
    )
    padding = weights[~mask]
    expect_that(bool((padding == 0).all()), f"padding has a weight{note}", yours=padding.detach())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_each_review(answer, gen, dtype):
    """Every review gets its own weights and log-probabilities, and every token its own classes."""
    for batch, time, dim, classes in SIZES:
        model = classifier(answer, gen, dim, classes, dtype)
        tokens, mask = reviews(gen, batch, time, dim, dtype)
        note = f" for {batch} reviews of {time} tokens, {classes} classes, in {dtype}"
        expect_right(answer, model, tokens, mask, note, ulps=200, scale=4.0)
        expect_right(answer, model, tokens, torch.ones_like(mask), f"{note}, no padding", ulps=200, scale=4.0)


def test_empty_batch(answer, gen):
    """No review at all gives empty results."""
    model = classifier(answer, gen, 3, 4)
    tokens, mask = torch.zeros(0, 5, 3), torch.zeros(0, 5, dtype=torch.bool)
    expect_close(model.token_weights(tokens, mask).detach(), torch.zeros(0, 5), "token_weights of no review")
    expect_close(model(tokens, mask).detach(), torch.zeros(0, 4), "the model's result for no review")
    expect_close(model.token_classes(tokens).detach(), torch.zeros(0, 5, 4), "token_classes of no review")
    labels, confidence = answer.predict(model, tokens, mask)
    expect_equal(labels, torch.zeros(0, dtype=torch.long), "the labels of no review")
    expect_close(confidence, torch.zeros(0), "the confidence of no review")


def test_other_company(answer, gen):
    """A review gets the same result alone, in other company and in another order, whatever its padding."""
    model = classifier(answer, gen, 4, 3, torch.float64)
    tokens, mask = reviews(gen, 5, 6, 4, torch.float64)
    together = model(tokens, mask).detach()
    for i in range(5):
        alone = model(tokens[i : i + 1], mask[i : i + 1]).detach()
        expect_close(alone, together[i : i + 1], f"model(…) for review {i} alone")
    order = torch.tensor([3, 0, 4, 1, 2])
    expect_close(model(tokens[order], mask[order]).detach(), together[order], "model(…) in another order")
    other = tokens.clone()
    other[~mask] = 1e12 * torch.randn(int((~mask).sum()), 4, generator=gen, dtype=torch.float64)
    expect_close(model(other, mask).detach(), together, "model(…) with other numbers in the padding")
    longer = torch.cat([tokens, torch.full((5, 2, 4), -7.0, dtype=torch.float64)], dim=1)
    more = torch.cat([mask, torch.zeros(5, 2, dtype=torch.bool)], dim=1)
    expect_close(model(longer, more).detach(), together, "model(…) with more padding")
    weights = model.token_weights(longer, more).detach()
    expect_close(
        weights[:, :6], model.token_weights(tokens, mask).detach(), "token_weights with more padding"
    )
    classes = model.token_classes(tokens).detach()
    expect_close(
        model.token_classes(tokens[:, :2]).detach(), classes[:, :2], "token_classes of two tokens each"
    )
    expect_close(model.token_classes(longer)[:, :6].detach(), classes, "token_classes of longer reviews")
    expect_close(model.token_classes(tokens[2:3]).detach(), classes[2:3], "token_classes of one review")


@pytest.mark.parametrize("method", ["token_weights", "forward", "token_classes"])
def test_gradients(answer, gen, method):
    """Tokens and parameters get their gradients, other reviews and padding exactly 0."""
    for batch, time, dim, classes in [(3, 4, 3, 2), (1, 3, 2, 4)]:
        model = classifier(answer, gen, dim, classes, torch.float64)
        tokens, mask = reviews(gen, batch, time, dim, torch.float64)
        mask[0, 0], mask[0, 1] = True, False
        index = ["token_weights", "forward", "token_classes"].index(method)
        twin, right = copy.deepcopy(model), tokens.clone().requires_grad_()
        wanted = functional(twin, right, mask)[index]
        cotangent = torch.randn(wanted.shape, generator=gen, dtype=torch.float64)
        (wanted * cotangent).sum().backward()
        leaf = tokens.clone().requires_grad_()
        args = (leaf,) if method == "token_classes" else (leaf, mask)
        yours = getattr(model, method)(*args)
        expect_that(yours.requires_grad, f"no gradient flows through {method}", yours=yours)
        (yours * cotangent).sum().backward()
        expect_close(leaf.grad, right.grad, f"the gradient for tokens through {method}", ulps=1e3, scale=1.0)
        for (name, p), q in zip(model.named_parameters(), twin.named_parameters(), strict=True):
            zero = torch.zeros_like(p)
            mine, its = (zero if t.grad is None else t.grad for t in (p, q[1]))
            expect_close(mine, its, f"the gradient for {name} through {method}", ulps=1e3, scale=1.0)
        if method != "token_classes":
            padding = leaf.grad[~mask]
            expect_that(
                bool((padding == 0).all()), f"padding gets a gradient through {method}", yours=padding
            )
        leaf.grad = None
        (getattr(model, method)(*args)[0] * cotangent[0]).sum().backward()
        rest = leaf.grad[1:]
        expect_that(bool((rest == 0).all()), f"other reviews get a gradient through {method}", yours=rest)


def functional(model, tokens, mask):
    """As `exact`, with gradients."""
    weights, logs, classes = [], [], []
    for review, keep in zip(tokens, mask, strict=True):
        own = (review[keep] @ model.score.weight[0] + model.score.bias).softmax(0)
        weights.append(torch.zeros(len(keep), dtype=own.dtype).masked_scatter(keep, own))
        logs.append((model.head.weight @ (own @ review[keep]) + model.head.bias).log_softmax(0))
        classes.append((review @ model.head.weight.T + model.head.bias).softmax(1))
    return torch.stack(weights), torch.stack(logs), torch.stack(classes)


@pytest.mark.parametrize("size", [100.0, 1e4])
def test_large_scores(answer, gen, size):
    """Large scores and logits, of tokens and of padding, give finite results that are right."""
    for score, head in [(size, 1.0), (1.0, size), (size, size), (-size, -size)]:
        model = answer.ReviewClassifier(2, 3).double()
        with torch.no_grad():
            model.score.weight.copy_(torch.tensor([[score, 0.0]]))
            model.head.weight.copy_(head * torch.tensor([[0.5, 1.0], [-1.0, 0.25], [0.0, -0.75]]))
            model.score.bias.zero_()
            model.head.bias.zero_()
        tokens = torch.rand(4, 3, 2, generator=gen, dtype=torch.float64) * 2 - 1
        mask = torch.ones(4, 3, dtype=torch.bool)
        tokens[0, 0, 0], mask[0, 0] = 1.0, False  # padding with the largest score, and tokens with the least
        tokens[0, 1:, 0] = -1.0
        mask[1, 1] = False
        tokens[1, 1, 0], tokens[1, ::2, 0] = -1.0, 1.0
        note = f" with scores of {score:g} and logits of {head:g}"
        expect_right(answer, model, tokens, mask, note, ulps=1e3, scale=size)
        finite = model(tokens, mask).isfinite().all() and model.token_classes(tokens).isfinite().all()
        expect_that(bool(finite), f"NaN or inf{note}")


def test_predict(answer, gen):
    """predict gives the likeliest class and its probability, without a graph, and leaves the mode."""
    for batch, time, dim, classes in SIZES:
        for training, dtype in ((True, torch.float32), (False, torch.float64)):
            model = classifier(answer, gen, dim, classes, dtype).train(training)
            model.head.train(not training)
            tokens, mask = reviews(gen, batch, time, dim, dtype)
            confidence, labels = exact(model, tokens, mask)[1].exp().max(1)
            call = "predict(model, tokens, mask)"
            with unchanged(call, tokens=tokens, mask=mask), torch.set_grad_enabled(training):
                yours = answer.predict(model, tokens, mask)
                enabled = torch.is_grad_enabled()
            expect_that(enabled == training, f"{call} switches gradients on or off")
            expect_equal(yours[0], labels, "the labels of predict(model, tokens, mask)")
            call = f"the confidence of predict(model, tokens, mask) in {dtype}"
            expect_close(yours[1], confidence.to(dtype), call, ulps=200, scale=1.0)
            expect_that(not yours[1].requires_grad, "the confidence carries a graph")
            modes = [m.training for m in (model, model.score, model.head)]
            wanted = [training, training, not training]
            expect_equal(modes, wanted, "the training flags of model, score and head after predict")
            grads = [p.grad for p in model.parameters()]
            expect_equal(grads, [None] * len(grads), "the parameters' gradients after predict")


def test_parameters(answer):
    """The parameters keep their names and shapes, so that checkpoints load."""
    model = answer.ReviewClassifier(4, 3)
    shapes = {name: tuple(t.shape) for name, t in model.state_dict().items()}
    wanted = {"score.weight": (1, 4), "score.bias": (1,), "head.weight": (3, 4), "head.bias": (3,)}
    expect_equal(shapes, wanted, "the shapes in the state dict of ReviewClassifier(4, 3)")


def test_no_loops(answer, gen):
    """The number of operations depends on no size."""
    model = classifier(answer, gen, 3, 2)
    for over, shape in {"reviews": lambda n: (n, 3, 3), "tokens": lambda n: (3, n, 3)}.items():

        def make(n, shape=shape):
            tokens, mask = reviews(gen, *shape(n))
            return lambda: (answer.predict(model, tokens, mask), model.token_classes(tokens))

        expect_flat_cost(make, "predict(model, tokens, mask) and token_classes(tokens)", over=over)


def oracle(answer, gen):
    results = []
    for batch, time, dim, classes in [(4, 5, 3, 2), (1, 3, 2, 4)]:
        model = classifier(answer, gen, dim, classes, torch.float64)
        tokens, mask = reviews(gen, batch, time, dim, torch.float64)
        leaf = tokens.clone().requires_grad_()
        logs = model(leaf, mask)
        weights = torch.randn(batch, classes, generator=gen, dtype=torch.float64)
        (grad,) = torch.autograd.grad((logs * weights).sum(), leaf)
        alone = model(tokens[:1], mask[:1]).detach()
        parts = [model.token_weights(tokens, mask).detach(), model.token_classes(tokens).detach()]
        labels, confidence = answer.predict(model, tokens, mask)
        results.append([logs.detach(), grad, alone, *parts, labels, confidence])
    return results
