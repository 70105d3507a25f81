"""What grades training_memory: real models after a real step, frozen and tied ones, the batch."""

import copy

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_raises, expect_that, modes_kept, peak_bytes

HALF, BRAIN, SINGLE, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64
OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=0.1),
}
BUDGET = 6 * 1024**3


def perceptron():
    return nn.Sequential(nn.Linear(7, 5), nn.Tanh(), nn.Linear(5, 3))


class Tagger(nn.Module):
    """A tied head, a frozen layer, a norm with an integer buffer, an unsaved mask, and int8 parameters."""

    def __init__(self):
        super().__init__()
        self.embedding, self.frozen = nn.Embedding(9, 4), nn.Linear(4, 4).requires_grad_(False)
        self.norm, self.head = nn.BatchNorm1d(4), nn.Linear(4, 9, bias=False)
        self.head.weight = self.embedding.weight
        self.codes = nn.Parameter(torch.zeros(5, 3, dtype=torch.int8), requires_grad=False)
        self.register_buffer("mask", torch.zeros(6, dtype=torch.bool), persistent=False)
        self.register_buffer("scale", torch.ones(3, dtype=torch.float64), persistent=False)

    def forward(self, tokens):
        return self.head(self.norm(self.frozen(self.embedding(tokens))))


def size_of(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def real_bytes(model, x, dtype, optimizer, master_weights):
    """What the tensors of a model take after one real step of training."""
    model = copy.deepcopy(model).to(dtype)
    trainable = [p for p in model.parameters() if p.requires_grad]
    has_master = master_weights and dtype.itemsize < 4
    moved = [nn.Parameter(p.detach().float()) for p in trainable] if has_master else trainable
    stepper = OPTIMIZERS[optimizer](moved)
    model(x.to(dtype) if x.is_floating_point() else x).float().square().mean().backward()
    for p, q in zip(trainable, moved, strict=True):
        q.grad = p.grad if q is p else p.grad.float()
    stepper.step()
    states = [
        t for state in stepper.state.values() for name, t in state.items() if name != "step" and t is not None
    ]
    return {
        "parameters": size_of([*model.parameters(), *model.buffers()]),
        "gradients": size_of([p.grad for p in trainable]),
        "optimizer": size_of(states),
        "master": size_of(moved) if has_master else 0,
    }


def real_activations(model, x):
    """The bytes that autograd keeps for backward, each memory once, without parameters."""
    own = {id(p.untyped_storage()) for p in model.parameters()}
    kept = {}

    def pack(t):
        if id(t.untyped_storage()) not in own:
            kept[id(t.untyped_storage())] = t.untyped_storage()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = model(x)
    del result
    return sum(storage.nbytes() for storage in kept.values())


def expect_table(answer, model, parameters, gradients, states, master, activations, note, *args, **kwargs):
    wanted = {"parameters": parameters, "gradients": gradients, "optimizer": states, "master": master}
    wanted |= {"activations": activations, "total": parameters + gradients + states + master + activations}
    yours, call = answer.training_memory(model, *args, **kwargs), f"training_memory(…) {note}"
    expect_equal(type(yours).__name__, "dict", f"the type of {call}")
    expect_equal(sorted(yours), sorted(wanted), f"the keys of {call}")
    for name, number in wanted.items():
        expect_equal(yours[name], number, f"the {name!r} bytes of {call}")


@pytest.mark.parametrize("optimizer", [*OPTIMIZERS])
@pytest.mark.parametrize("dtype", [SINGLE, BRAIN, HALF, DOUBLE], ids=str)
def test_real_models(answer, gen, dtype, optimizer):
    """The table agrees with the tensors of real models after a real step, with and without master weights."""
    x, tokens = torch.rand(4, 7, generator=gen), torch.tensor([8, 1, 0])
    for model, inputs in ((perceptron(), x), (Tagger(), tokens)):
        for master in (False, True):
            wanted = real_bytes(model, inputs, dtype, optimizer, master)
            wanted |= {"activations": 6 * 11 * dtype.itemsize}
            wanted["total"] = sum(wanted.values())
            yours = answer.training_memory(model, 6, 11, dtype, optimizer, master)
            name = type(model).__name__
            call = f'training_memory({name}, …, {dtype}, "{optimizer}", master_weights={master})'
            expect_equal(yours, wanted, call)


@pytest.mark.parametrize("dtype", [SINGLE, BRAIN], ids=str)
def test_real_activations(answer, gen, dtype):
    """The activations of a batch are what autograd keeps for it, in dtype."""
    model = perceptron()
    saved = real_activations(model, torch.rand(1, 7, generator=gen)) // 4
    for size in (1, 5, 64):
        batch = torch.rand(size, 7, generator=gen).to(dtype)
        wanted = real_activations(copy.deepcopy(model).to(dtype), batch)
        yours = answer.training_memory(model, size, saved, dtype)["activations"]
        expect_equal(yours, wanted, f"the activations of {size} examples in {dtype}")


def test_defaults(answer):
    """Without another word: float32, AdamW, no master weights, and a card of 6 · 1024³ bytes."""
    model = nn.Linear(3, 2)
    expect_table(answer, model, 32, 32, 64, 0, 4 * 5 * 7, "with its defaults", batch=5, saved=7)
    for saved in (10**6, 3 * 10**6):
        wanted = (BUDGET - 128) // (4 * saved)
        expect_equal(answer.largest_batch(model, saved), wanted, f"largest_batch(model, {saved})")


def test_trainable(answer):
    """Frozen parameters have neither gradient nor state nor master, but they take their place."""
    model = perceptron()
    model[0].requires_grad_(False)
    model[2].bias.requires_grad_(False)
    options = {"dtype": BRAIN, "master_weights": True}
    expect_table(answer, model, 116, 30, 120, 60, 0, "with frozen layers", 0, 9, **options)
    model.requires_grad_(False).eval()
    expect_table(answer, model, 116, 0, 0, 0, 18, "with a frozen model", 1, 9, **options)
    with torch.no_grad():
        expect_table(answer, nn.Linear(3, 2), 16, 16, 64, 32, 0, "under no_grad", 1, 0, **options)
    layer = nn.Linear(3, 2)
    layer.register_buffer("table", torch.ones(5, requires_grad=True))
    note = "with a buffer that requires a gradient and is no parameter"
    expect_table(answer, layer, 26, 16, 64, 32, 0, note, 0, 9, **options)
    expect_table(answer, nn.ReLU(), 0, 0, 0, 0, 36, "of a model without parameters", 1, 9)


def test_dtypes_before(answer):
    """What counts is the dtype to come: a model may be in another now, or in several."""
    model = nn.Sequential(nn.Linear(3, 2).bfloat16(), nn.Linear(2, 2).double())
    model.register_buffer("codes", torch.zeros(5, dtype=torch.int16))
    model.register_buffer("rates", torch.zeros(5, dtype=HALF))
    expect_table(answer, model, 56 + 10 + 20, 56, 112, 0, 8, "to float32, from others", 2, 1)
    expect_table(answer, model, 28 + 10 + 10, 28, 56, 0, 4, "to float16, from others", 2, 1, HALF)
    narrow = {"dtype": torch.float8_e5m2, "optimizer": "momentum", "master_weights": True}
    expect_table(answer, model, 14 + 10 + 5, 14, 56, 56, 2, "in one byte", 2, 1, **narrow)
    for before in (BRAIN, torch.float8_e5m2):  # master weights although no number gets narrower
        layer, half = nn.Linear(3, 2).to(before), {"dtype": BRAIN, "master_weights": True}
        expect_table(answer, layer, 16, 16, 64, 32, 4, f"to bfloat16, from {before}", 2, 1, **half)
    note = "to float32, from float64, with master weights asked for"
    expect_table(answer, nn.Linear(3, 2).double(), 32, 32, 64, 0, 8, note, 2, 1, master_weights=True)


def test_once(answer):
    """Parameters and buffers with several names count once, equal ones each."""
    layer, norm = nn.Linear(3, 3), nn.BatchNorm1d(2)
    shared = nn.ModuleList([layer, norm, layer, norm, nn.Linear(3, 3)])
    expect_table(answer, shared, (24 + 4 + 4) * 4 + 8, 28 * 4, 28 * 8, 0, 0, "with shared layers", 0, 0)
    one, other, table = nn.Linear(3, 3), nn.Linear(3, 3), torch.zeros(50)
    for part in (one, other):
        part.register_buffer("table", table)
    both = nn.ModuleList([one, other]).eval()
    expect_table(answer, both, 24 * 4 + 200, 96, 192, 0, 0, "with a buffer of two layers, in eval mode", 0, 0)
    parts = torch.zeros(10).split([4, 6])
    flat = nn.ParameterList(nn.Parameter(part) for part in (*parts, torch.tensor(2.0)))
    note = "with two parameters that are parts of one tensor, and one without dimensions"
    expect_table(answer, flat, 44, 44, 88, 0, 0, note, 0, 0)
    one.register_buffer("start", one.weight.detach())  # another tensor, though its memory is the weight's
    note = "with a buffer that has a parameter's numbers"
    expect_table(answer, one, 21 * 4 + 200, 48, 96, 0, 0, note, 0, 0)


def test_frozen_later(answer):
    """A model is looked at anew in each call; a result that the caller has emptied harms none."""
    model = nn.Linear(3, 3)
    answer.training_memory(model, 0, 0).clear()
    expect_table(answer, model, 48, 48, 96, 0, 0, "as another result is emptied", 0, 0)
    expect_equal(answer.largest_batch(model, 1, 232), 10, "largest_batch(model, 1, 232)")
    model.bias.requires_grad_(False)
    expect_table(answer, model, 48, 36, 72, 0, 0, "after a parameter was frozen", 0, 0)
    call = "largest_batch(model, 1, 232) after a parameter was frozen"
    expect_equal(answer.largest_batch(model, 1, 232), 19, call)


@pytest.mark.parametrize("optimizer", [*OPTIMIZERS])
def test_largest_batch(answer, optimizer):
    """The batch fills the budget to the last byte, not one byte more, under every argument."""
    model = nn.Linear(30, 10)
    for dtype, master in ((SINGLE, False), (SINGLE, True), (BRAIN, False), (HALF, True), (DOUBLE, False)):
        options = {"dtype": dtype, "optimizer": optimizer}
        if master or dtype is not BRAIN:  # False by default
            options["master_weights"] = master
        width = dtype.itemsize
        state = {"sgd": 0, "momentum": 1, "adamw": 2}[optimizer]
        fixed = 310 * (2 * width + (4 * state + 4 if master and width < 4 else width * state))
        for saved, count in ((13, 1), (13, 40), (250, 7)):
            full = fixed + count * saved * width
            for budget, wanted in ((full, count), (full - 1, count - 1), (full + saved * width - 1, count)):
                call = f"largest_batch(model, {saved}, {budget}, **{options})"
                expect_equal(answer.largest_batch(model, saved, budget, **options), wanted, call)
        for budget in (fixed, fixed - 1, fixed // 2, 0):
            call = f"largest_batch(model, 13, {budget}, **{options}), where nothing fits"
            expect_equal(answer.largest_batch(model, 13, budget, **options), 0, call)


def test_on_meta(answer):
    """A model on meta, too large for any machine, is judged like another."""
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(20_000, 15_000, bias=False), nn.BatchNorm1d(1000))
    count, buffers = 300_002_000, 2000
    options = {"dtype": BRAIN, "master_weights": True}
    wanted = (count + buffers) * 2 + 8, count * 2, count * 8, count * 4, 64 * 10**6
    expect_table(answer, model, *wanted, "of a model on meta", 32, 10**6, **options)
    left = BUDGET - sum(wanted[:4])
    expect_equal(
        answer.largest_batch(model, 10**6, **options), left // (2 * 10**6), "largest_batch of a model on meta"
    )
    expect_equal(answer.largest_batch(model, 10**6, BUDGET, DOUBLE), 0, "largest_batch in float64 on meta")
    wanted = (10**20 + 7 - sum(wanted[:4])) // 6
    expect_equal(
        answer.largest_batch(model, 3, 10**20 + 7, **options), wanted, "largest_batch of 10**20 + 7 bytes"
    )
    n = 300_000_001  # n² has more digits than a float
    huge = nn.Linear(n, n, bias=False, device="meta")
    expect_table(answer, huge, 4 * n**2, 4 * n**2, 8 * n**2, 0, 0, f"of {n}² parameters on meta", 0, 1)


def test_model_is_left_alone(answer, device):
    """The model keeps its dtype, gradients and mode, and no memory is made, on any device."""
    model = nn.Sequential(nn.Linear(100, 50), nn.BatchNorm1d(50))
    model[1].eval()
    gradient = model[0].weight.grad = torch.ones(50, 100)
    before = dict(model.state_dict(keep_vars=True))

    def both():
        answer.training_memory(model, 2, 3, BRAIN, "adamw", True)
        answer.largest_batch(model, 3, 10**6, BRAIN, "adamw", True)

    with modes_kept("training_memory(…)", model):
        peak = peak_bytes(both)
    expect_that(peak < 1000, "training_memory(…) makes memory for the model's numbers", yours=f"{peak} bytes")
    for name, t in model.state_dict(keep_vars=True).items():
        expect_that(t is before[name], f"{name} is another tensor after training_memory(…)")
        dtype = torch.int64 if name.endswith("tracked") else SINGLE
        expect_equal(t.dtype, dtype, f"the dtype of {name} after training_memory(…)")
    expect_that(model[0].weight.grad is gradient, "a gradient is gone after training_memory(…)")
    there = nn.Linear(3, 2).to(device)
    expect_table(answer, there, 16, 16, 32, 0, 0, "on another device", 0, 9, BRAIN)


def test_bad_input(answer):
    """Unknown optimizers, dtypes that are not floating and negative sizes raise ValueError."""
    model = nn.Linear(3, 2)
    for options in (
        {"optimizer": "adam8bit"},
        {"optimizer": ""},
        {"optimizer": "AdamW"},
        {"dtype": torch.int32},
        {"dtype": torch.bool},
        {"dtype": torch.complex64},
        {"batch": -1},
        {"saved": -1},
    ):
        call = f"training_memory(model, **{options})"
        given = {"batch": 1, "saved": 1, **options}
        expect_raises(ValueError, lambda given=given: answer.training_memory(model, **given), call)
        if "batch" not in options:
            given.pop("batch")
            call = f"largest_batch(model, **{options})"
            expect_raises(ValueError, lambda given=given: answer.largest_batch(model, **given), call)
    for budget in (0, BUDGET):
        call = f"largest_batch(model, saved=0, budget={budget})"
        expect_raises(ValueError, lambda b=budget: answer.largest_batch(model, saved=0, budget=b), call)
    model.requires_grad_(False)
    call = 'training_memory(model, 1, 1, optimizer="adam"), nothing of it trainable'
    expect_raises(ValueError, lambda: answer.training_memory(model, 1, 1, optimizer="adam"), call)


def oracle(answer, gen):
    results = []
    for optimizer in OPTIMIZERS:
        for dtype, master in ((SINGLE, False), (BRAIN, False), (BRAIN, True)):
            a, b, c, batch, saved = torch.randint(1, 9, (5,), generator=gen).tolist()
            model = nn.Sequential(nn.Linear(a, b), nn.BatchNorm1d(b), nn.Linear(b, c).half())
            model[2].bias.requires_grad_(False)
            model.append(model[0])
            results.append(answer.training_memory(model, batch, saved, dtype, optimizer, master))
            results.append(answer.largest_batch(model, saved, 5000, dtype, optimizer, master))
    return results
