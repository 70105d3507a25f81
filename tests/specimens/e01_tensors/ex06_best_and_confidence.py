"""Answers to best_and_confidence that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BEST = "    best = logits.argmax(dim=-1)  # (*batch)\n"
SOFTMAX = "    probabilities = logits.softmax(dim=-1)  # (*batch, classes)\n"
PICK = "    confidence = probabilities.gather(-1, best.unsqueeze(-1)).squeeze(-1)  # (*batch)\n"
BODY = BEST + SOFTMAX + PICK + "    return best, confidence\n"


def instead(body):
    return [(BODY, body), ("from jaxtyping import", "import torch\nfrom jaxtyping import")]


SPECIMENS = [
    Wrong(
        "swaps the names only: dimension 1",
        edits=instead(
            "    confidence, best = logits.softmax(dim=1).max(dim=1)\n    return best, confidence\n"
        ),
        check="test_any_dimensions",
        rung="job",
    ),
    Wrong(
        "value and index the other way round",
        edits=[("return best, confidence", "return confidence, best")],
        check="test_values",
        says="max returns values first",
        rung="job",
    ),
    Wrong(
        "the pair as max gives it, of logits instead of probabilities",
        edits=instead("    return tuple(reversed(logits.max(dim=-1)))\n"),
        check="test_values",
        says="the largest logit itself",
        rung="job",
    ),
    Wrong(
        "softmax over the batch",
        edits=[("logits.softmax(dim=-1)", "logits.softmax(dim=0)")],
        check="test_values",
        says="over the first dimension",
        rung="job",
    ),
    Wrong(
        "argmax over everything",
        edits=[("logits.argmax(dim=-1)", "logits.argmax().expand(logits.shape[:-1]) % logits.shape[-1]")],
        check="test_values",
        rung="job",
    ),
    Wrong(
        "keeps the last dimension",
        edits=[(".squeeze(-1)", "")],
        check="test_values",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "squeezes every dimension of size 1",
        edits=[(".squeeze(-1)", ".squeeze()")],
        check="test_sizes_of_one",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "under no_grad, as for evaluation",
        edits=[("def best_and_confidence", "import torch\n\n@torch.no_grad()\ndef best_and_confidence")],
        check="test_gradients",
        says="no gradient",
        rung="job",
    ),
    Wrong(
        "a loop over the rows",
        edits=instead("""
    if logits.dim() == 1:
        best = logits.argmax()
        return best, logits.softmax(0)[best]
    pairs = [best_and_confidence(row) for row in logits]
    return torch.stack([b for b, _ in pairs]), torch.stack([c for _, c in pairs])
"""),
        check="test_no_loop",
        says="grows with batch",
        rung="job",
    ),
    Wrong(
        "decided by the log-probabilities, which round as well",
        edits=[("logits.argmax(dim=-1)", "logits.log_softmax(dim=-1).argmax(dim=-1)")],
        check="test_close_logits",
        says="best_and_confidence(logits)[0]",
    ),
    Wrong(
        "softmax without the shift",
        edits=[("logits.softmax(dim=-1)", "logits.exp() / logits.exp().sum(-1, keepdim=True)")],
        check="test_large_logits",
        says="nan",
    ),
    Wrong(
        "from the normaliser, which rounds the digits of large logits away",
        edits=instead("""
    top, best = logits.max(dim=-1)
    return best, (top - logits.logsumexp(dim=-1)).exp()
"""),
        check="test_digits",
        says="wrong values",
    ),
    Wrong(
        "confidence always in float32",
        edits=[("logits.softmax(dim=-1)", "logits.float().softmax(dim=-1)")],
        check="test_dtype_is_kept",
        says="float32",
    ),
    Wrong(
        "shifts the caller's logits in place",
        edits=[(SOFTMAX, "    logits.data -= logits.data.amax(-1, keepdim=True)\n" + SOFTMAX)],
        check="test_arguments_are_left_alone",
        says="changes",
    ),
    Wrong(
        "class numbers made on the CPU",
        edits=[
            (
                PICK,
                "    is_best = best.unsqueeze(-1) == torch.arange(logits.shape[-1])\n"
                "    confidence = probabilities.masked_fill(~is_best, 0).sum(-1)\n",
            ),
            ("from jaxtyping import", "import torch\nfrom jaxtyping import"),
        ],
        check="test_stays_on_the_device",
    ),
    Works(
        "the two names swapped, and the last dimension",
        code="""
import torch

def best_and_confidence(logits):
    probs = torch.softmax(logits, dim=-1)
    confidence, best = torch.max(probs, dim=-1)
    return best, confidence
""",
    ),
    Works(
        "topk of the probabilities, as the model cards of torchvision and CLIP have it",
        code="""
def best_and_confidence(logits):
    values, indices = logits.softmax(dim=-1).topk(1, dim=-1)
    return indices.squeeze(-1), values.squeeze(-1)
""",
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
        "from log_softmax",
        edits=instead("""
    best = logits.max(dim=-1).indices
    return best, logits.log_softmax(dim=-1).gather(-1, best[..., None])[..., 0].exp()
"""),
    ),
    Right(
        "best of the logits, the largest of the probabilities",
        edits=instead("    return torch.max(logits, -1).indices, torch.softmax(logits, -1).amax(-1)\n"),
    ),
]
