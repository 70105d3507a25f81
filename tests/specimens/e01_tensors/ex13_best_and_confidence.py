"""Answers to best_and_confidence that people write."""

from grader.authoring.specimen import Right, Wrong

BEST = "    best = logits.argmax(dim=-1)  # (*batch)\n"
SOFTMAX = "    probabilities = logits.softmax(dim=-1)  # (*batch, classes)\n"
PICK = "    confidence = probabilities.gather(-1, best.unsqueeze(-1)).squeeze(-1)  # (*batch)\n"
BODY = BEST + SOFTMAX + PICK + "    return best, confidence\n"


def instead(body):
    return [(BODY, body), ("from jaxtyping import", "import torch\nfrom jaxtyping import")]


SPECIMENS = [
    Wrong(
        "swaps the names only: dimension 1, and decided after softmax",
        edits=instead(
            "    confidence, best = logits.softmax(dim=1).max(dim=1)\n    return best, confidence\n"
        ),
        check="test_any_dimensions_before_the_classes",
    ),
    Wrong(
        "the right dimension, but decided after softmax, in float64",
        edits=instead(
            "    confidence, best = logits.double().softmax(dim=-1).max(dim=-1)\n"
            "    return best, confidence.to(logits.dtype)\n"
        ),
        check="test_close_logits",
    ),
    Wrong(
        "decided by the log-probabilities, which round as well",
        edits=[("logits.argmax(dim=-1)", "logits.log_softmax(dim=-1).argmax(dim=-1)")],
        check="test_close_logits",
    ),
    Wrong(
        "rounds the logits first",
        edits=[("logits.argmax(dim=-1)", "logits.half().argmax(dim=-1)")],
        check="test_close_logits",
    ),
    Wrong(
        "value and index the other way round",
        edits=[("return best, confidence", "return confidence, best")],
        check="test_best_and_its_probability",
    ),
    Wrong(
        "the pair as max gives it, of logits instead of probabilities",
        edits=instead("    return tuple(reversed(logits.max(dim=-1)))\n"),
        check="test_best_and_its_probability",
        says="the largest logit itself",
    ),
    Wrong(
        "softmax over the batch",
        edits=[("logits.softmax(dim=-1)", "logits.softmax(dim=0)")],
        check="test_best_and_its_probability",
        says="over the first dimension",
    ),
    Wrong(
        "each class by itself: sigmoid",
        edits=[("logits.softmax(dim=-1)", "logits.sigmoid()")],
        check="test_best_and_its_probability",
        says="sigmoid takes each class by itself",
    ),
    Wrong(
        "argmax over everything",
        edits=[("logits.argmax(dim=-1)", "logits.argmax().expand(logits.shape[:-1]) % logits.shape[-1]")],
        check="test_best_and_its_probability",
    ),
    Wrong(
        "keeps the last dimension",
        edits=[(".squeeze(-1)", "")],
        check="test_best_and_its_probability",
    ),
    Wrong(
        "squeezes every dimension of size 1",
        edits=[(".squeeze(-1)", ".squeeze()")],
        check="test_sizes_of_one_and_empty",
    ),
    Wrong(
        "best in the dtype of logits",
        edits=[("return best, confidence", "return best.to(logits.dtype), confidence")],
        check="test_dtypes",
        says="int64",
    ),
    Wrong(
        "best as int32",
        edits=[("return best, confidence", "return best.int(), confidence")],
        check="test_dtypes",
        says="int32",
    ),
    Wrong(
        "confidence always in float32",
        edits=[("logits.softmax(dim=-1)", "logits.float().softmax(dim=-1)")],
        check="test_dtypes",
        says="float32",
    ),
    Wrong(
        "hands back a list",
        edits=[("return best, confidence", "return [best, confidence]")],
        check="test_best_and_its_probability",
    ),
    Wrong(
        "softmax without the shift",
        edits=[("logits.softmax(dim=-1)", "logits.exp() / logits.exp().sum(-1, keepdim=True)")],
        check="test_large_and_forbidden_logits",
    ),
    Wrong(
        "shifts the caller's logits in place",
        edits=[
            (
                "logits.softmax(dim=-1)",
                "logits.data.sub_(logits.data.amax(-1, keepdim=True)).exp().softmax(-1)",
            )
        ],
        check="test_strided_logits",
        says="changes",
    ),
    Wrong(
        "under no_grad, as for evaluation",
        edits=[("def best_and_confidence", "import torch\n\n@torch.no_grad()\ndef best_and_confidence")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "a normaliser without gradients",
        edits=[("logits.softmax(dim=-1)", "(logits - logits.detach().logsumexp(-1, keepdim=True)).exp()")],
        check="test_gradient",
    ),
    Wrong(
        "class numbers made on the CPU",
        edits=[
            (
                PICK,
                "    import torch\n    is_best = best.unsqueeze(-1) == torch.arange(logits.shape[-1])\n    confidence = probabilities.masked_fill(~is_best, 0).sum(-1)\n",
            )
        ],
        check="test_stays_on_the_device",
    ),
    Wrong(
        "asks for values",
        edits=[
            (
                BEST,
                '    if logits.numel() and bool(logits.isnan().any()):\n        raise ValueError("NaN")\n'
                + BEST,
            )
        ],
        check="test_stays_on_the_device",
        says="copies to the host",
    ),
    Wrong(
        "a loop over the rows",
        edits=instead("""
    if logits.dim() == 1 or logits.numel() == 0:
        best = logits.argmax(-1)
        return best, logits.softmax(-1).gather(-1, best.unsqueeze(-1)).squeeze(-1)
    pairs = [best_and_confidence(row) for row in logits]
    return torch.stack([b for b, _ in pairs]), torch.stack([c for _, c in pairs])
"""),
        check="test_no_loop",
        says="grows with batch",
    ),
    Wrong(
        "the largest probability: where two round to the same, each gets half of the gradient",
        edits=instead("    return torch.max(logits, -1).indices, torch.softmax(logits, -1).amax(-1)\n"),
        check="test_gradient_for_close_logits",
    ),
    Wrong(
        "from the normaliser, which rounds the digits of large logits away",
        edits=instead("""
    top, best = logits.max(dim=-1)
    return best, (top - logits.logsumexp(dim=-1)).exp()
"""),
        check="test_large_logits_in_every_dtype",
    ),
    Wrong(
        "compares in float32",
        edits=[("logits.argmax(dim=-1)", "logits.float().argmax(dim=-1)")],
        check="test_close_logits",
    ),
    Wrong(
        "takes -inf for -1000, which is large beside -10000",
        edits=[(BEST, "    logits = logits.nan_to_num(neginf=-1e3)\n" + BEST)],
        check="test_large_and_forbidden_logits",
    ),
    Wrong(
        "picks by a boolean index, whose size the host waits for",
        edits=[
            (
                PICK,
                "    classes = torch.arange(logits.shape[-1], device=logits.device)\n"
                "    confidence = probabilities[best.unsqueeze(-1) == classes].view(best.shape)\n",
            ),
            ("from jaxtyping import", "import torch\nfrom jaxtyping import"),
        ],
        check="test_stays_on_the_device",
        says="copies to the host",
    ),
    Wrong(
        "indexes with a 0-d tensor, which asks for its value",
        edits=[(SOFTMAX, SOFTMAX + "    if logits.dim() == 1:\n        return best, probabilities[best]\n")],
        check="test_stays_on_the_device",
        says="copies to the host",
    ),
    Wrong(
        "a size of -1, which an empty batch does not tell",
        edits=[
            (PICK, "    confidence = probabilities.gather(-1, best.unsqueeze(-1))\n"),
            (
                "return best, confidence",
                "return best, confidence.reshape(*logits.shape[:-2], -1) if logits.dim() > 1 else confidence[0]",
            ),
        ],
        check="test_sizes_of_one_and_empty",
    ),
    Wrong(
        "a loop over the first of two dimensions before the classes",
        edits=instead("""
    if logits.dim() > 2 and len(logits):
        pairs = [best_and_confidence(part) for part in logits]
        return torch.stack([b for b, _ in pairs]), torch.stack([c for _, c in pairs])
    best = logits.argmax(-1)
    return best, logits.softmax(-1).gather(-1, best.unsqueeze(-1)).squeeze(-1)
"""),
        check="test_no_loop",
        says="grows with batch",
    ),
    Wrong(
        "what the others leave of 1: of a small probability few digits are left",
        edits=[
            (
                PICK,
                "    others = probabilities.scatter(-1, best.unsqueeze(-1), 0.0)\n"
                "    confidence = 1 - others.sum(dim=-1)\n",
            )
        ],
        check="test_many_classes",
    ),
    Wrong(
        "keeps the confidence a little below 1, for logarithms to come",
        edits=[("    return best, confidence", "    return best, confidence.clamp(max=1 - 1e-7)")],
        check="test_large_logits_in_every_dtype",
    ),
    Wrong(
        "class numbers through float16, which holds integers up to 2048",
        edits=[("    return best, confidence", "    return best.to(logits.dtype).long(), confidence")],
        check="test_dtypes",
        says="2054 classes",
    ),
    Wrong(
        "an empty result of its own, in float32",
        edits=[
            (
                "    probabilities = logits",
                "    if logits.numel() == 0:\n        return best, best.float()\n    probabilities = logits",
            )
        ],
        check="test_sizes_of_one_and_empty",
        says="float64",
    ),
    Wrong(
        "ones for a single class, which no gradient can pass",
        edits=[
            (
                "    return best, confidence",
                "    if logits.shape[-1] == 1:\n        confidence = torch.ones_like(logits[..., 0])\n"
                "    return best, confidence",
            )
        ],
        check="test_gradient",
    ),
    Right(
        "from log_softmax",
        edits=instead("""
    best = logits.max(dim=-1).indices
    return best, logits.log_softmax(dim=-1).gather(-1, best[..., None])[..., 0].exp()
"""),
    ),
    Right(
        "topk of the logits, shifted by hand",
        edits=instead("""
    values, places = logits.topk(1, dim=-1)
    confidence = 1 / (logits - values).exp().sum(-1)
    return places[..., 0], confidence
"""),
    ),
    Right(
        "sorted, take_along_dim",
        edits=instead("""
    best = logits.argsort(dim=-1, descending=True)[..., :1]
    probabilities = torch.nn.functional.softmax(logits.double(), dim=-1).to(logits.dtype)
    return best.squeeze(-1), torch.take_along_dim(probabilities, best, dim=-1).squeeze(-1)
"""),
    ),
]
