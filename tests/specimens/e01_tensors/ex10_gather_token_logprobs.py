"""Answers to gather_token_logprobs that people write."""

from grader.authoring.specimen import Right, Works, Wrong

UPCAST = """    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
"""
SOFTMAX = "    logprobs = logits.log_softmax(dim=-1)  # (batch, time, vocab)\n"
PICK = """    picked = logprobs.gather(-1, targets.unsqueeze(-1))  # (batch, time, 1)
    return picked.squeeze(-1)  # (batch, time)
"""

SPECIMENS = [
    Wrong(
        "normalises along time",
        edits=[(".log_softmax(dim=-1)", ".log_softmax(dim=1)")],
        check="test_values",
        says="runs over time",
        rung="job",
    ),
    Wrong(
        "forgets to normalise",
        edits=[(SOFTMAX, "    logprobs = logits\n")],
        check="test_values",
        says="not normalised",
        rung="job",
    ),
    Wrong(
        "takes token 0 for padding",
        edits=[
            ("    return picked.squeeze(-1)", "    return picked.squeeze(-1).masked_fill(targets == 0, 0)")
        ],
        check="test_values",
        says="taken for padding",
        rung="job",
    ),
    Wrong(
        "indexes the vocabulary with all targets",
        edits=[(PICK, "    return logprobs[..., targets].squeeze()\n")],
        check="test_values",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "squeezes every dimension of size 1",
        edits=[("picked.squeeze(-1)", "picked.squeeze()")],
        check="test_sizes_of_one",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "a constant normaliser: no gradient for the other tokens",
        edits=[(SOFTMAX, "    logprobs = logits - logits.detach().logsumexp(-1, keepdim=True)\n")],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "a loop over the batch",
        edits=[
            (
                PICK,
                "    rows = [p.gather(1, t.unsqueeze(1)).squeeze(1) for p, t in zip(logprobs, targets)]\n"
                "    return torch.stack(rows) if rows else logprobs[:, :, 0]\n",
            )
        ],
        check="test_no_loop",
        says="grows with",
        rung="job",
    ),
    Wrong(
        "exponentials of any logits: logsumexp without the shift",
        edits=[(SOFTMAX, "    logprobs = logits - logits.exp().sum(-1, keepdim=True).log()\n")],
        check="test_large_logits",
        says="inf",
    ),
    Wrong(
        "log of softmax with a little added",
        edits=[(".log_softmax(dim=-1)", ".softmax(dim=-1).add(1e-20).log()")],
        check="test_unlikely_tokens",
    ),
    Wrong(
        "one-hot times log-probabilities: zero times -inf is NaN",
        edits=[
            (
                PICK,
                "    one_hot = torch.nn.functional.one_hot(targets, logits.shape[-1])\n"
                "    return (logprobs * one_hot).sum(-1)\n",
            )
        ],
        check="test_forbidden_tokens",
        says="nan",
    ),
    Wrong(
        "computes in half precision, then casts",
        edits=[
            (UPCAST, ""),
            ("picked.squeeze(-1)", "picked.squeeze(-1).to(torch.promote_types(logits.dtype, torch.float32))"),
        ],
        check="test_half_precision",
        says="wrong values",
    ),
    Wrong(
        "casts everything to float32",
        edits=[(UPCAST, "    logits = logits.float()\n")],
        check="test_dtype_is_kept",
        says="float64",
    ),
    Wrong(
        "a size of -1, which no positions do not tell",
        edits=[("    return picked.squeeze(-1)", "    return picked.reshape(len(logits), -1)")],
        check="test_empty",
    ),
    Wrong(
        "shifts the caller's logits in place",
        edits=[(SOFTMAX, "    logits.data.sub_(logits.data.amax(-1, keepdim=True))\n" + SOFTMAX)],
        check="test_arguments_are_left_alone",
        says="changes",
    ),
    Wrong(
        "asks for values to check the targets",
        edits=[(SOFTMAX, "    assert targets.numel() == 0 or targets.max() < logits.shape[-1]\n" + SOFTMAX)],
        check="test_stays_on_the_device",
        says="host",
    ),
    Works(
        "the logarithm of softmax, as introductory texts have it",
        code="""
import torch

def token_logprobs(logits, targets):
    probs = torch.softmax(logits, dim=-1)
    return torch.log(probs.gather(2, targets.unsqueeze(2)).squeeze(2))
""",
    ),
    Works(
        "log_softmax and gather, as the trainers of TRL and OpenRLHF have it",
        code="""
import torch
import torch.nn.functional as F

def token_logprobs(logits, targets):
    log_probs = F.log_softmax(logits, dim=-1)
    return torch.gather(log_probs, dim=-1, index=targets.unsqueeze(-1)).squeeze(-1)
""",
    ),
    Works(
        "cross entropy of flat views, as nanoGPT has it",
        code="""
import torch.nn.functional as F

def token_logprobs(logits, targets):
    B, T, C = logits.shape
    return -F.cross_entropy(logits.view(B * T, C), targets.view(B * T), reduction="none").view(B, T)
""",
    ),
    Right(
        "gathers first, then subtracts the normaliser",
        edits=[
            (SOFTMAX, ""),
            (
                PICK,
                "    chosen = logits.gather(2, targets[:, :, None])[:, :, 0]\n"
                "    return chosen - torch.logsumexp(logits, dim=2)\n",
            ),
        ],
    ),
    Right(
        "cross entropy without reduction",
        code="""
import torch
import torch.nn.functional as F

def token_logprobs(logits, targets):
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    loss = F.cross_entropy(wide.reshape(-1, wide.size(-1)), targets.reshape(-1), reduction="none")
    return -loss.reshape(targets.shape)
""",
    ),
    Right(
        "three index tensors",
        edits=[
            (
                PICK,
                "    b = torch.arange(logits.shape[0], device=logits.device).unsqueeze(1)\n"
                "    t = torch.arange(logits.shape[1], device=logits.device)\n    return logprobs[b, t, targets]\n",
            )
        ],
    ),
]
