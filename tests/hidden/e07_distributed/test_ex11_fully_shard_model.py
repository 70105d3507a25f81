"""What grades fully_shard_model: the steps of one process, shares, dtypes, messages, the whole state."""

import copy
from dataclasses import dataclass
from functools import lru_cache

import pytest
import torch
from torch import nn
from torch.func import functional_call

from grader.checks import expect_close, expect_equal, expect_that, global_rng_untouched
from grader.checks.distributed import count_collectives, in_words, run_ranks

pytestmark = pytest.mark.multi_process

LOGITS = 7


class Seen(nn.Linear):
    """A linear layer that remembers the dtypes that it computes with."""

    def forward(self, x):
        self.dtypes = (str(x.dtype), str(self.weight.dtype))
        return super().forward(x)


class Block(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(5)
        self.up = Seen(5, hidden)
        self.down = nn.Linear(hidden, 5, bias=False)
        self.register_buffer("gain", torch.tensor(1.5))

    def forward(self, x):
        return x + self.gain * self.down(torch.tanh(self.up(self.norm(x))))


class Stack(nn.Module):
    """A small language model: blocks of unequal sizes, with odd numbers of rows."""

    def __init__(self, blocks=3):
        super().__init__()
        self.embed = nn.Embedding(LOGITS, 5)
        self.blocks = nn.ModuleList(Block(6 + 3 * number) for number in range(blocks))
        self.register_buffer("shift", torch.zeros(5))
        self.register_buffer("mask", torch.ones(5), persistent=False)
        self.register_buffer("calls", torch.tensor(0))
        self.head = Seen(5, LOGITS)

    def forward(self, tokens, weights=None):
        x = self.embed(tokens) + (self.shift * self.mask).to(self.embed.weight.dtype)
        if weights is not None:
            x = x * weights
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@dataclass
class Case:
    """What the ranks train: `steps[i]` are the rows of step i, cut into equal shards."""

    model: nn.Module
    steps: list
    param_dtype: torch.dtype | None = None
    reshard: bool = True
    differ: bool = False

    @property
    def shown(self):
        kind = str(self.param_dtype).removeprefix("torch.")
        return f"fully_shard_model(model, param_dtype={kind}, reshard_after_forward={self.reshard})"


def drawn(gen, world_size, *, blocks=3, steps=2, **options):
    model = Stack(blocks)
    for t in (*model.parameters(), *model.buffers()):
        t.data.copy_(torch.randn(t.shape, generator=gen) / 2)
    rows = [
        (
            torch.randint(LOGITS, (2 * world_size, 3), generator=gen),
            torch.randn(2 * world_size, 3, 1, generator=gen),
        )
        for _ in range(steps)
    ]
    return Case(model, rows, **options)


def sharded(answer, case, rank):
    """The model of this rank after fully_shard_model, in the way that the case asks for."""
    model = case.model
    if case.differ and rank > 0:
        for t in (*model.parameters(), *model.buffers()):
            t.data.add_(torch.linspace(rank, 3 * rank, t.numel()).view_as(t).to(t.dtype))
    options = {} if case.param_dtype is None else {"param_dtype": case.param_dtype}
    if not case.reshard:
        options["reshard_after_forward"] = False
    torch.rand(())  # so that a seed shows, whichever it is
    with global_rng_untouched(case.shown):
        answer.fully_shard_model(model, **options)
    return model


def loss_of(logits):
    # ranks and places differ, so that it shows who is left out
    return (logits.float() * torch.linspace(-1, 2, LOGITS)).square().mean()


def descend(model):
    """A step of SGD on what this rank holds: through DTensor, an optimizer takes longer than all else."""
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad:
                held(p).sub_(held(p.grad), alpha=0.1)


def held(tensor):
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def whole(tensor):
    """A parameter, or a gradient, in one piece: every rank takes part. None stays None."""
    if tensor is None:
        return None
    return (tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor).detach().clone()


def train(rank, world_size, answer, cases):
    """What each rank does: the losses, parameters and gradients in one piece at the end, and the buffers."""
    results = []
    for case in cases:
        model = sharded(answer, case, rank)
        losses = []
        for rows in case.steps:
            model.zero_grad()
            loss = loss_of(model(*(x.chunk(world_size)[rank] for x in rows)))
            loss.backward()
            descend(model)
            losses.append(loss.item())
        state = {name: (whole(p), whole(p.grad)) for name, p in model.named_parameters()}
        results.append((losses, state, {name: b.clone() for name, b in model.named_buffers()}))
    return results


def train_and_save(rank, world_size, answer, cases):
    """The losses of each case, and what is saved at the end."""
    results = train(rank, world_size, answer, cases)
    saved = [answer.full_state_dict(case.model) for case in cases]
    return [[losses, state] for (losses, *_), state in zip(results, saved, strict=True)]


def train_alone(world_size, case):
    """The same on one process. In 16 bits, each shard's gradient by itself, and their mean in float32."""
    model = copy.deepcopy(case.model)
    dtype = case.param_dtype or torch.float32
    losses = []
    for rows in case.steps:
        model.zero_grad()
        losses.append([])
        for tokens, weights in zip(*(x.chunk(world_size) for x in rows), strict=True):
            cast = {name: p.to(dtype) for name, p in model.named_parameters()}
            loss = loss_of(functional_call(model, cast, (tokens, weights.to(dtype))))
            trained = [p for p in model.parameters() if p.requires_grad]
            for p, g in zip(trained, torch.autograd.grad(loss, trained), strict=True):
                p.grad = g / world_size + (0 if p.grad is None else p.grad)
            losses[-1].append(loss.item())
        descend(model)
    return losses, {name: (p.detach(), p.grad) for name, p in model.named_parameters()}


def expect_as_alone(answer, world_size, **cases):
    """On every rank, losses, parameters and gradients are those of one process."""
    wanted = [train_alone(world_size, case) for case in cases.values()]
    buffers = [{name: b.clone() for name, b in case.model.named_buffers()} for case in cases.values()]
    found = run_ranks(world_size, train, list(cases.values()), answer=answer)
    for number, about in enumerate(cases):
        right_losses, right = wanted[number]
        for rank, results in enumerate(found):
            for name, buffer in buffers[number].items():
                where = f"on rank {rank} of {world_size}, {about.replace('_', ' ')}"
                expect_close(results[number][2][name], buffer, f"the buffer {name} {where}")
        for rank, results in enumerate(found):
            losses, state, _ = results[number]
            where = f"on rank {rank} of {world_size}, {about.replace('_', ' ')}"
            expect_equal(list(state), list(right), f"the names of the parameters {where}")
            for step, (loss, wanted_ones) in enumerate(zip(losses, right_losses, strict=True), start=1):
                expect_close(
                    torch.tensor(loss),
                    torch.tensor(wanted_ones[rank]),
                    f"the loss in step {step} {where}",
                    ulps=500,
                )
            for name, (p, gradient) in right.items():
                # several steps add up the rounding of each
                of = f"{name} after {len(losses)} steps {where}"
                if gradient is not None:
                    expect_close(state[name][1], gradient, f"the gradient of {of}", ulps=500, scale=1.0)
                expect_close(state[name][0], p, of, ulps=500, scale=1.0)


@pytest.mark.parametrize("world_size", [1, 3])
def test_steps(answer, gen, world_size):
    """A sharded model takes the steps that the model in one piece takes on the rows of all ranks."""
    expect_as_alone(
        answer,
        world_size,
        two_blocks=drawn(gen, world_size, blocks=2),
        one_block_kept_whole=drawn(gen, world_size, blocks=1, reshard=False),
    )


def test_copies_that_differ(answer, gen):
    """Whatever the other ranks' copies hold, the weights and buffers of rank 0 are trained."""
    case = drawn(gen, 2, differ=True)
    case.model.blocks[1].norm.requires_grad_(False)
    expect_as_alone(answer, 2, from_copies_that_differ=case)


def test_mixed_precision(answer, gen):
    """With a param_dtype the model computes in it, and the gradients are averaged in float32."""
    expect_as_alone(
        answer,
        2,
        # one step: after it, a last bit may decide which way a weight is rounded
        in_bfloat16=drawn(gen, 2, steps=1, param_dtype=torch.bfloat16),
        in_float16=drawn(gen, 2, steps=1, blocks=2, param_dtype=torch.float16, reshard=False),
    )


def look(rank, world_size, answer, cases):
    """The dtypes of what a rank holds and of its layers, and what it sends in its last step."""
    found = []
    for case in cases:
        model = sharded(answer, case, rank)
        for rows in case.steps:
            shard = [x.chunk(world_size)[rank] for x in rows]
            with count_collectives() as forward:
                logits = model(*shard)
            loss = loss_of(logits)
            with count_collectives() as backward:
                loss.backward()
            gradients = {name: str(p.grad.dtype) for name, p in model.named_parameters()}
            descend(model)
            model.zero_grad()
        layers = {f"blocks.{n}.up": block.up for n, block in enumerate(model.blocks)} | {"head": model.head}
        dtypes = {name: layer.dtypes for name, layer in layers.items()}
        shares = {name: str(p.dtype) for name, p in model.named_parameters()}
        found.append((shares, gradients, str(logits.dtype), dtypes, forward, backward))
    return found


@lru_cache(maxsize=1)
def looked(answer):
    """Cases, and what two ranks see of each: the checks of dtypes and of messages need the same run."""
    gen = torch.Generator().manual_seed(0)  # no number counts here
    cases = [
        drawn(gen, 2, steps=2),
        drawn(gen, 2, steps=2, blocks=2, reshard=False),
        drawn(gen, 2, steps=2, param_dtype=torch.bfloat16),
    ]
    return cases, run_ranks(2, look, cases, answer=answer)


def share(rank, world_size, answer, case):
    """The shape of what a rank holds of each parameter, and of its gradient."""
    model = sharded(answer, case, rank)
    loss_of(model(*(x.chunk(world_size)[rank] for x in case.steps[0]))).backward()
    return {name: [tuple(held(t).shape) for t in (p, p.grad)] for name, p in model.named_parameters()}


def test_shares(answer, gen):
    """Each rank keeps its rows of every parameter, and no more; the gradients are cut up as well."""
    case = drawn(gen, 4, blocks=1, steps=1)
    shapes = {name: tuple(p.shape) for name, p in case.model.named_parameters()}
    for rank, found in enumerate(run_ranks(4, share, case, answer=answer)):
        for name, (rows, *others) in shapes.items():
            each = -(-rows // 4)
            mine = (len(range(rows)[rank * each : (rank + 1) * each]), *others)
            for of, shape in zip((name, f"the gradient of {name}"), found[name], strict=True):
                expect_equal(shape, mine, f"the shape of what rank {rank} of 4 has of {of}")


def test_dtypes(answer):
    """Layers compute in param_dtype; shares, gradients and what the model returns are in float32."""
    cases, ranks = looked(answer)
    for rank, found in enumerate(ranks):
        for case, (shares, gradients, returned, layers, *_) in zip(cases, found, strict=True):
            where = f"on rank {rank}, after {case.shown}"
            expect_equal(returned, "torch.float32", f"the dtype of what the model returns {where}")
            kind = str(case.param_dtype or torch.float32)
            for name, dtypes in layers.items():
                expect_equal(
                    dtypes, (kind, kind), f"the dtypes of the input and the weight of {name} {where}"
                )
            for name, dtype in shares.items():
                expect_equal(dtype, "torch.float32", f"the dtype of {name} {where}")
                expect_equal(gradients[name], "torch.float32", f"the dtype of the gradient of {name} {where}")


def test_messages(answer):
    """Forward and backward send what the statement says: for each unit, and in the right dtype."""
    cases, ranks = looked(answer)
    for rank, found in enumerate(ranks):
        for case, (*_, forward, backward) in zip(cases, found, strict=True):
            where = f"on rank {rank}, after {case.shown}"
            blocks = len(case.model.blocks)
            wanted = {"all_gather": blocks + 1}
            told = f"wrong messages of the forward {where}"
            expect_that(forward.count == wanted, told, yours=in_words(forward.count), wanted=in_words(wanted))
            gathered = backward.count.get("all_gather", 0)
            others = {kind: n for kind, n in backward.count.items() if kind != "all_gather"}
            wanted = {"reduce_scatter": blocks + 1}
            told = f"wrong messages of the backward, without all_gather, {where}"
            expect_that(others == wanted, told, yours=in_words(others), wanted=in_words(wanted))
            most = blocks + 1 if case.reshard else 0
            expect_that(
                (blocks if case.reshard else 0) <= gathered <= most,
                f"the wrong number of all-gathers in the backward {where}",
                yours=gathered,
                wanted=f"{blocks} or {most}" if case.reshard else 0,
            )
            _expect_bytes(case, forward, backward, where)
            if case.reshard:
                yours = backward.bytes["all_gather"]
                least = sum(p.numel() for p in case.model.blocks.parameters()) * _width(case) // 2
                told = f"the backward does not fetch all blocks {where}"
                expect_that(yours >= least, told, yours=f"{yours} bytes", wanted=f"at least {least}")


def _width(case):
    return (case.param_dtype or torch.float32).itemsize


def _expect_bytes(case, forward, backward, where):
    rows = sum(-(-p.shape[0] // 2) * p.shape[1:].numel() for p in case.model.parameters())
    width = _width(case)
    for kind, yours, most in (
        ("all-gathers of the forward", forward.bytes["all_gather"], rows * width),
        ("reduce-scatters of the backward", backward.bytes["reduce_scatter"], 2 * rows * 4),
    ):
        expect_that(
            yours <= most, f"too many bytes in the {kind} {where}", yours=yours, wanted=f"at most {most}"
        )


def save(rank, world_size, answer, cases):
    """Train, validate, save, go on: what was saved, what it looked like then, and what another save gives."""
    found = []
    for case in cases:
        case.model.head.eval()
        modes = [part.training for part in case.model.modules()]
        model = sharded(answer, case, rank)
        for rows in case.steps:
            if rows is case.steps[-1]:
                trained = {name: whole(p) for name, p in model.named_parameters()}
                trained |= {name: b.clone() for name, b in model.named_buffers()}
                with torch.no_grad():  # after this, weights may be there in one piece, and in param_dtype
                    model(*(x.chunk(world_size)[rank] for x in rows))
            saved = answer.full_state_dict(model)
            same_modes = modes == [part.training for part in model.modules()]
            kept = {name: copy.deepcopy(t) for name, t in saved.items()}
            model.zero_grad()
            loss_of(model(*(x.chunk(world_size)[rank] for x in rows))).backward()
            descend(model)
            for b in model.buffers():
                b.add_(1)
        kinds = {(type(t).__name__, t.requires_grad) for t in saved.values()}
        found.append((kinds, kept, saved, trained, same_modes, model.head.dtypes))
    return found


@pytest.mark.parametrize("world_size", [1, 3])
def test_full_state_dict(answer, gen, world_size):
    """On rank 0, the state dict is whole and plain, with memory of its own; on the others it is empty."""
    cases = [
        drawn(gen, world_size, steps=2, blocks=2),
        drawn(gen, world_size, steps=1, blocks=1, param_dtype=torch.bfloat16, reshard=False),
    ]
    for rank, results in enumerate(run_ranks(world_size, save, cases, answer=answer)):
        for case, (kinds, kept, later, trained, same_modes, layer) in zip(cases, results, strict=True):
            call = f"full_state_dict(model) on rank {rank} of {world_size}, after {case.shown}"
            expect_that(same_modes, f"a mode (train or eval) changes in {call}")
            kind = str(case.param_dtype or torch.float32)
            where = f"on rank {rank} of {world_size}, after {case.shown}"
            expect_equal(layer, (kind, kind), f"the dtypes of the input and the weight of head {where}")
            if rank > 0:
                expect_equal(list(kept), [], f"the keys of {call}")
                continue
            keys = list(case.model.state_dict())
            expect_equal(sorted(kept), sorted(keys), f"the keys of {call}")
            told = f"the keys are in another order than in state_dict() of the model in one piece, in {call}"
            expect_that(list(kept) == keys, told, yours=", ".join(kept), wanted=", ".join(keys))
            expect_equal(kinds, {("Tensor", False)}, f"the types of the values, and requires_grad, in {call}")
            for name, t in kept.items():
                expect_equal(t, trained[name], f"{name} in {call}")
                told = f"one step later, {name} in the dict has changed with the model: {call}"
                expect_that(torch.equal(later[name], t), told, wanted="memory of its own")


def oracle(answer, gen):
    cases = [drawn(gen, 3, differ=True), drawn(gen, 3, blocks=2, steps=1, param_dtype=torch.bfloat16)]
    return run_ranks(3, train_and_save, cases, answer=answer)
