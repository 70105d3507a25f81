"""What grades fully_shard_model: the steps of one process, units, dtypes, the whole state; copies, memory."""

import copy
from dataclasses import dataclass, field
from functools import cache, lru_cache

import pytest
import torch
import torch.distributed.fsdp  # here once, and not in every rank anew
from torch import nn
from torch.func import functional_call

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import count_collectives, in_words, run_ranks

pytestmark = pytest.mark.multi_process

LOGITS, BLOCKS = 7, 3


class Seen(nn.Linear):
    """A linear layer that remembers the dtypes that it computes with."""

    def forward(self, x):
        self.dtypes = {"its input": str(x.dtype), "its weight": str(self.weight.dtype)}
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

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(LOGITS, 5)
        self.blocks = nn.ModuleList(Block(6 + 3 * number) for number in range(BLOCKS))
        self.register_buffer("shrink", torch.tensor(0.5), persistent=False)
        self.head = Seen(5, LOGITS)

    def forward(self, tokens):
        x = self.embed(tokens) * self.shrink
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@dataclass
class Case:
    """What the ranks train: `steps[i]` are the rows of step i, cut into equal shards."""

    model: nn.Module
    steps: list
    options: dict = field(default_factory=dict)

    @property
    def call(self):
        return f"fully_shard_model({', '.join(['model', *(f'{k}={v}' for k, v in self.options.items())])})"


def drawn(gen, world_size, *, steps=2, **options):
    model = Stack()
    for t in (*model.parameters(), *model.buffers()):
        t.data.copy_(torch.randn(t.shape, generator=gen) / 2)
    rows = [torch.randint(LOGITS, (2 * world_size, 3), generator=gen) for _ in range(steps)]
    return Case(model, rows, options)


def sharded(rank, answer, case, differ=False):
    model = case.model
    if differ and rank > 0:
        for t in (*model.parameters(), *model.buffers()):
            t.data.add_(rank)
    answer.fully_shard_model(model, **case.options)
    return model


def loss_of(logits):
    # ranks and places differ, so that it shows who is left out
    return (logits.float() * torch.linspace(-1, 2, LOGITS)).square().mean()


def descend(model):
    """A step of SGD on what this rank holds: through DTensor, an optimizer takes longer than all else."""
    with torch.no_grad():
        for p in model.parameters():
            held(p).sub_(held(p.grad), alpha=0.1)


def held(tensor):
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def whole(tensor):
    """A parameter, or a gradient, in one piece: every rank takes part."""
    return (tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor).detach().clone()


def train(rank, world_size, answer, case, differ=False):
    """Losses, parameters, gradients and buffers at the end; dtypes; what the last step sends."""
    model = sharded(rank, answer, case, differ)
    losses = []
    for rows in case.steps:
        model.zero_grad()
        with count_collectives() as forward:
            logits = model(rows.chunk(world_size)[rank])
        loss = loss_of(logits)
        with count_collectives() as backward:
            loss.backward()
        descend(model)
        losses.append(loss.item())
    return {
        "losses": losses,
        "parameters": {name: whole(p) for name, p in model.named_parameters()},
        "gradients": {name: whole(p.grad) for name, p in model.named_parameters()},
        "buffers": {name: b.clone() for name, b in model.named_buffers()},
        "returned": str(logits.dtype),
        "layers": {name: part.dtypes for name, part in model.named_modules() if hasattr(part, "dtypes")},
        "sent": (forward.count, backward.count),
    }


def train_alone(world_size, case):
    """The same on one process. In 16 bits, each shard's gradient by itself, and their mean in float32."""
    model = copy.deepcopy(case.model)
    dtype = case.options.get("param_dtype") or torch.float32
    losses = []
    for rows in case.steps:
        model.zero_grad()
        losses.append([])
        for tokens in rows.chunk(world_size):
            cast = {name: p.to(dtype) for name, p in model.named_parameters()}
            loss = loss_of(functional_call(model, cast, (tokens,)))
            (loss / world_size).backward()
            losses[-1].append(loss.item())
        descend(model)
    return {
        "losses": losses,
        "parameters": {name: p.detach() for name, p in model.named_parameters()},
        "gradients": {name: p.grad for name, p in model.named_parameters()},
        "buffers": dict(model.named_buffers()),
    }


@lru_cache(maxsize=1)
def in_bfloat16(answer):
    """One step on two ranks, which three checks look at."""
    # a second step could differ: a last bit may decide which way a weight is rounded
    case = drawn(torch.Generator().manual_seed(0), 2, steps=1, param_dtype=torch.bfloat16)
    return case, run_ranks(2, train, case, answer=answer)


def expect_as_alone(answer, world_size, case, differ=False):
    """On every rank, losses, parameters and gradients are those of one process."""
    expect_found(run_ranks(world_size, train, case, differ, answer=answer), case)


def expect_found(ranks, case):
    right = train_alone(len(ranks), case)
    wheres = [f"on rank {rank} of {len(ranks)}, after {case.call}" for rank in range(len(ranks))]
    for found, where in zip(ranks, wheres, strict=True):
        expect_equal(
            list(found["parameters"]), list(right["parameters"]), f"the names of the parameters {where}"
        )
        for name, buffer in right["buffers"].items():
            expect_close(found["buffers"][name], buffer, f"the buffer {name} {where}")
    for rank, (found, where) in enumerate(zip(ranks, wheres, strict=True)):
        for name, p in right["parameters"].items():
            # several steps add up the rounding of each
            gradient, call = found["gradients"][name], f"the gradient of {name} in the last step {where}"
            expect_close(gradient, right["gradients"][name], call, ulps=500, scale=1.0)
            expect_close(found["parameters"][name], p, f"{name} at the end {where}", ulps=500, scale=1.0)
        losses = torch.tensor([step[rank] for step in right["losses"]])
        expect_close(torch.tensor(found["losses"]), losses, f"the loss of each step {where}", ulps=500)


@pytest.mark.parametrize("world_size", [2, 3])
def test_steps(answer, gen, world_size):
    """A sharded model takes the steps that the model in one piece takes on the rows of all ranks."""
    options = {"reshard_after_forward": False} if world_size == 2 else {}
    expect_as_alone(answer, world_size, drawn(gen, world_size, **options))


UNITS = {
    0: "the model is not sharded",
    1: "all of the model is one unit: shard the blocks first, the model takes what is left",
    BLOCKS: "what lies outside of the blocks is no unit: shard the model as well",
}


@pytest.mark.parametrize("reshard", [True, False])
def test_units(answer, gen, reshard):
    """Each block is a unit, and the rest is one: the forward fetches each once, the backward as asked."""
    case = drawn(gen, 2, **({} if reshard else {"reshard_after_forward": False}))
    for rank, found in enumerate(run_ranks(2, train, case, answer=answer)):
        forward, backward = found["sent"]
        where = f"on rank {rank}, after {case.call}"
        units = forward.get("all_gather", 0)
        wanted = {"all_gather": BLOCKS + 1}
        facts = {"yours": in_words(forward), "wanted": f"{in_words(wanted)}, one for each unit"}
        if units in UNITS:
            facts["likely"] = UNITS[units]
        expect_that(forward == wanted, f"wrong messages of a forward {where}", **facts)
        again = backward.get("all_gather", 0)
        facts = {"yours": again, "wanted": f"{BLOCKS}, or one more" if reshard else 0}
        told = f"wrong number of all-gathers in a backward {where}"
        expect_that(again in ((BLOCKS, BLOCKS + 1) if reshard else (0,)), told, **facts)


def test_param_dtype(answer):
    """All layers compute in param_dtype; the shares and their gradients are in float32."""
    case, ranks = in_bfloat16(answer)
    for rank, found in enumerate(ranks):
        where = f"on rank {rank}, after {case.call}"
        for layer, dtypes in found["layers"].items():
            for of, dtype in dtypes.items():
                none = {"no policy says so: MixedPrecisionPolicy(param_dtype=…)": lambda: "torch.float32"}
                call = f"the dtype of {layer}, {of}, in the forward {where}"
                expect_equal(dtype, "torch.bfloat16", call, suspects=none)
        for kind in ("parameters", "gradients"):
            dtypes = {str(t.dtype) for t in found[kind].values()}
            cast = {
                "the model is cast: MixedPrecisionPolicy leaves the shares as they are": lambda d=dtypes: d
            }
            expect_equal(dtypes, {"torch.float32"}, f"the dtypes of the {kind} {where}", suspects=cast)


def save(rank, world_size, answer, case, evaluate=False):
    """What is saved after the steps, a copy of it, and what the model then has; a step later."""
    train(rank, world_size, answer, case)
    model = case.model
    has = {name: whole(p) for name, p in model.named_parameters()}
    has |= {name: b.clone() for name, b in model.named_buffers()}
    if evaluate:  # after this, weights may lie there in one piece, and in param_dtype
        with torch.no_grad():
            model(case.steps[0])
    saved = answer.full_state_dict(model)
    kinds = {
        name: (isinstance(t, torch.Tensor) and not hasattr(t, "to_local"), t.requires_grad)
        for name, t in saved.items()
    }
    kept = {name: whole(t) for name, t in saved.items() if kinds[name][0]}
    loss_of(model(case.steps[0].chunk(world_size)[rank])).backward()
    descend(model)
    for b in model.buffers():
        b.add_(1)
    return kept, kinds, has, [name for name, t in kept.items() if not torch.equal(saved[name], t)]


def expect_saved(answer, world_size, case, **options):
    (kept, kinds, has, changed), *others = run_ranks(world_size, save, case, *options.values(), answer=answer)
    for rank, (_, found, *_) in enumerate(others, start=1):
        expect_equal(list(found), [], f"the keys of full_state_dict(model) on rank {rank} of {world_size}")
    call = f"full_state_dict(model) on rank 0 of {world_size}, after {case.call}"
    keys = list(case.model.state_dict())
    parameters = {"buffers are left out": lambda: sorted(name for name, _ in case.model.named_parameters())}
    expect_equal(sorted(kinds), sorted(keys), f"the keys of {call}", suspects=parameters)
    for name in keys:
        expect_that(kinds[name][0], f"{name} is no plain tensor in {call}", wanted="the whole, no DTensor")
        expect_close(kept[name], has[name], f"{name} in {call}")
    return kinds, changed, call


def test_full_state_dict(answer, gen):
    """On rank 0 the state dict is whole and plain, with the buffers; on the others it is empty."""
    expect_saved(answer, 3, drawn(gen, 3))


@pytest.mark.fine
def test_state_after_a_forward(answer, gen):
    """After a forward without a backward, in bfloat16, the state dict is whole and in float32 as well."""
    options = {"param_dtype": torch.bfloat16, "reshard_after_forward": False}
    expect_saved(answer, 2, drawn(gen, 2, **options), evaluate=True)


@pytest.mark.fine
@pytest.mark.parametrize("world_size", [1, 2])
def test_state_of_its_own(answer, gen, world_size):
    """The keys are in order; the tensors require no gradient, and stay when the model learns more."""
    case = drawn(gen, world_size, steps=1)
    kinds, changed, call = expect_saved(answer, world_size, case)
    keys = list(case.model.state_dict())
    told = f"the keys are in another order than in state_dict() of the model in one piece, in {call}"
    expect_that(list(kinds) == keys, told, yours=", ".join(kinds), wanted=", ".join(keys))
    told = f"tensors require a gradient in {call}"
    expect_that(not any(grad for _, grad in kinds.values()), told)
    told = f"one step later, tensors in the dict have changed with the model: {call}"
    expect_that(not changed, told, yours=", ".join(changed), wanted="memory of their own")


@pytest.mark.fine
def test_copies_that_differ(answer, gen):
    """Whatever the other ranks' copies hold, the parameters and buffers of rank 0 are trained."""
    expect_as_alone(answer, 2, drawn(gen, 2), differ=True)


@pytest.mark.fine
def test_averages_in_float32(answer):
    """With a param_dtype the gradients are averaged in float32."""
    case, ranks = in_bfloat16(answer)
    expect_found(ranks, case)


@pytest.mark.fine
def test_returns_float32(answer):
    """With a param_dtype the model returns float32."""
    case, ranks = in_bfloat16(answer)
    for rank, found in enumerate(ranks):
        call = f"the dtype of what the model returns on rank {rank}, after {case.call}"
        expect_equal(found["returned"], "torch.float32", call)


def oracle(answer, gen):
    case, other = drawn(gen, 3), drawn(gen, 2, reshard_after_forward=False)

    @cache
    def trained():
        return run_ranks(3, train, case, answer=answer)

    def told(what):
        return lambda: [rank[what] for rank in trained()]

    return {
        "the losses of two steps on three ranks": told("losses"),
        "the gradients": told("gradients"),
        "the parameters": told("parameters"),
        "the state dict of two ranks": lambda: [
            state for state, *_ in run_ranks(2, save, other, answer=answer)
        ],
    }


def fine_oracle(answer, gen):
    halves, apart = drawn(gen, 2, steps=1, param_dtype=torch.bfloat16), drawn(gen, 2)

    def gradients(case, differ):
        return lambda: [rank["gradients"] for rank in run_ranks(2, train, case, differ, answer=answer)]

    return {
        "the gradients in bfloat16": gradients(halves, differ=False),
        "the gradients of copies that differ": gradients(apart, differ=True),
    }
