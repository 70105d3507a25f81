"""What grades train_epoch: waits counted on the simulated device, weights, the report, graphs kept."""

import copy
import gc
import math
import weakref

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that, peak_bytes, unchanged
from grader.checks.devices import count_traffic

NAMES = ["accuracy", "clipped", "largest_norm", "loss"]


class Tagger(nn.Module):
    """Three features, five classes; a parameter without gradient, one that wants none, one for long rows."""

    def __init__(self, gen):
        super().__init__()
        self.hidden, self.out = nn.Linear(3, 4), nn.Linear(4, 5)
        self.unused, self.frozen = (
            nn.Parameter(torch.ones(2)),
            nn.Parameter(torch.ones(3), requires_grad=False),
        )
        self.long = nn.Parameter(torch.zeros(5))
        with torch.no_grad():
            for p in [*self.hidden.parameters(), *self.out.parameters()]:
                p.copy_(torch.randn(p.shape, generator=gen))

    def forward(self, x):
        logits = self.out(self.hidden(x).tanh())
        return logits + self.long if x.shape[1] > 5 else logits


def batches_of(gen, *sizes, unlabelled=()):
    """A batch for each size (rows, time); some positions have no label, in those of `unlabelled` none has."""
    batches = []
    for number, size in enumerate(sizes):
        labels = torch.randint(0, 5, size, generator=gen)
        labels[torch.rand(size, generator=gen) < 0.4] = -100
        labels.view(-1)[0] = number % 5
        if number in unlabelled:
            labels.fill_(-100)
        batches.append((2 * torch.randn(*size, 3, generator=gen), labels))
    return batches


SIZES = (2, 7), (3, 2), (1, 1), (4, 5)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.5)


def plain_sgd(model):
    return torch.optim.SGD(model.parameters(), lr=1.0)


def adamw(model):
    return torch.optim.AdamW(model.parameters(), lr=0.1)


def written_out(model, optimizer, batches, max_norm):
    """The report, in Python numbers and with branches."""
    losses, norms, hits, count = [], [], 0, 0
    for features, labels in batches:
        logits = model(features)
        labelled = labels != -100
        number = int(labelled.sum())
        loss = F.cross_entropy(logits[labelled], labels[labelled], reduction="sum")
        losses.append(loss.item())
        hits += int((logits.argmax(-1)[labelled] == labels[labelled]).sum())
        count += number
        optimizer.zero_grad()
        (loss / max(number, 1)).backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        norms.append(math.sqrt(math.fsum(g.double().square().sum().item() for g in gradients)))
        if norms[-1] > max_norm:
            for g in gradients:
                g.mul_(max_norm / norms[-1])
        optimizer.step()
    return {
        "loss": math.fsum(losses) / count,
        "accuracy": hits / count,
        "largest_norm": max(norms),
        "clipped": sum(norm > max_norm for norm in norms),
    }


def expect_report(yours, wanted, call):
    expect_equal(sorted(yours), NAMES, f"the names in the report of {call}")
    for name, right in wanted.items():
        kind = "int" if name == "clipped" else "float"
        expect_equal(type(yours[name]).__name__, kind, f"the type of {name} from {call}")
        expect_that(
            math.isclose(yours[name], right, rel_tol=2e-5, abs_tol=1e-6),
            f"wrong {name} from {call}",
            yours=f"{yours[name]:.7g}",
            wanted=f"{right:.7g}",
        )


def expect_weights(model, twin, when):
    for (name, p), right in zip(model.named_parameters(), twin.parameters(), strict=True):
        expect_close(p.detach().cpu(), right.detach(), f"{name} after {when}", ulps=300.0, scale=1.0)


def expect_epoch(answer, model, batches, max_norm, call, optimizer=sgd):
    twin = copy.deepcopy(model)
    wanted = written_out(twin, optimizer(twin), batches, max_norm)
    mine = copy.deepcopy(model)
    yours = answer.train_epoch(mine, optimizer(mine), iter(batches), max_norm)
    expect_report(yours, wanted, call)
    expect_weights(mine, twin, call)


def waits_of(answer, model, batches, max_norm, optimizer):
    """Train on the device: the report, and the traffic after each step and at the end."""
    found = []

    def loader():
        for batch in batches:
            yield batch
            found.append(traffic.syncs + traffic.to_host)

    with count_traffic() as traffic:
        report = answer.train_epoch(model, optimizer, loader(), max_norm)
    return report, found, traffic


@pytest.mark.parametrize("optimizer", [sgd, adamw])
def test_epoch(answer, gen, optimizer):
    """Report and weights are right where no, some and all gradients are scaled, for batches of any size."""
    model, batches = Tagger(gen), batches_of(gen, *SIZES)
    with unchanged("train_epoch(…)", features=batches[0][0], labels=batches[0][1]):
        for max_norm in (100.0, 0.7, 0.05):
            call = f"train_epoch(…, max_norm={max_norm})"
            expect_epoch(answer, model, batches, max_norm, call, optimizer)
    expect_epoch(answer, model, batches[2:3], 1.0, "train_epoch(…) with a batch of one position", optimizer)
    single = [(features, labels.clamp(max=0)) for features, labels in batches]
    expect_epoch(answer, nn.Linear(3, 1), single, 1.0, "train_epoch(…) with a single class", optimizer)


def test_groups(answer, gen):
    """The norm is that of all gradients together, be their parameters in several groups of the optimizer."""

    def groups(model):
        groups = [{"params": [p]} for p in model.parameters()]
        return torch.optim.SGD(groups, lr=0.2)

    batches = batches_of(gen, *SIZES)
    call = "train_epoch(…, max_norm=0.7), a group for each parameter"
    expect_epoch(answer, Tagger(gen), batches, 0.7, call, groups)


class Turned(Tagger):
    """Logits that lie in memory with time first."""

    def forward(self, x):
        return turned(super().forward(x))


def turned(x):
    return x.transpose(0, 1).contiguous().transpose(0, 1)


def test_any_layout(answer, gen):
    """Labels and logits may lie in memory in any way."""
    batches = [(turned(features), turned(labels)) for features, labels in batches_of(gen, *SIZES)]
    expect_epoch(answer, Turned(gen), batches, 0.7, "train_epoch(…) of batches that lie time first")


class Switch(nn.Module):
    """One weight, and logits for two classes: without bias, 0 is the logit of the other."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return torch.cat([x * self.weight, torch.zeros_like(x)], -1)


def test_norm_at_the_limit(answer):
    """A norm that is just max_norm is not more than it: nothing is scaled nor counted."""
    batches = [(torch.tensor([[[4.0]]]), torch.tensor([[0]]))]  # the gradient is -2
    expect_epoch(
        answer, Switch(), batches, 2.0, "train_epoch(…, max_norm=2), the gradient has norm 2", plain_sgd
    )


def test_default_norm(answer, gen):
    """Gradients are scaled to norm 1 where no max_norm is given."""
    model, batches = Tagger(gen), batches_of(gen, *SIZES)
    twin = copy.deepcopy(model)
    wanted = written_out(twin, sgd(twin), batches, 1.0)
    expect_report(
        answer.train_epoch(model, sgd(model), batches), wanted, "train_epoch(model, optimizer, batches)"
    )
    expect_weights(model, twin, "train_epoch(model, optimizer, batches)")


def test_no_labels(answer, gen):
    """A batch without labels has loss 0, counts nowhere, and takes its step."""
    for unlabelled in ((1,), (0, 2, 3)):
        model, batches = Tagger(gen), batches_of(gen, *SIZES, unlabelled=unlabelled)
        call = f"train_epoch(…), the batches {unlabelled} have no labels"
        expect_epoch(answer, model, batches, 0.7, call)
    lost = [(features * math.nan, labels) for features, labels in batches[1:2]]
    report = answer.train_epoch(model, sgd(model), lost)
    expect_equal(report["loss"], math.nan, 'report["loss"] of a labelled batch whose logits are all NaN')


@pytest.mark.parametrize("max_norm", [100.0, 0.05])
def test_no_wait_in_a_step(answer, gen, device, max_norm):
    """No number goes to the host before the last step is done, with or without scaling and labels."""
    batches = batches_of(gen, *SIZES, unlabelled=(2,))
    model = Tagger(gen)
    twin = copy.deepcopy(model)
    wanted = written_out(twin, sgd(twin), batches, max_norm)
    model.to(device)
    there = [(features.to(device), labels.to(device)) for features, labels in batches]
    report, found, traffic = waits_of(answer, model, there, max_norm, sgd(model))
    call = f"train_epoch(…, max_norm={max_norm}) on another device"
    for number, waits in enumerate(found):
        expect_that(
            waits == 0,
            f"the host waits for the device in step {number} of {call}",
            yours=f"{waits} copies and waits up to the end of this step",
            wanted="none before the last step is done",
            likely="`.item()`, `.tolist()`, `if`, `max`, `float` or printing of a tensor, or a boolean index",
        )
    expect_equal(len(found), len(there), f"the steps of {call}")
    expect_that(
        traffic.syncs <= 4,
        f"the host waits too often after the last step of {call}",
        yours=f"{traffic.syncs} waits for {len(there)} batches",
        wanted="at most four",
    )
    expect_report(report, wanted, call)
    expect_weights(model, twin, call)


def test_waits_do_not_grow(answer, gen, device):
    """Twelve batches take no more waits than four."""
    batches = batches_of(gen, *SIZES)
    there = [(features.to(device), labels.to(device)) for features, labels in batches] * 3
    model = Tagger(gen).to(device)
    _, found, traffic = waits_of(answer, model, there, 0.5, adamw(model))
    expect_equal(found, [0] * 12, "the copies to the host and waits up to the end of each of twelve steps")
    expect_that(traffic.syncs <= 4, "more than four waits for twelve batches", yours=traffic.syncs)


def test_half_precision(answer, gen):
    """A model in bfloat16 is counted like any other: its positions are not added up in three digits."""
    model = nn.Linear(3, 2).to(torch.bfloat16)
    nn.init.zeros_(model.weight)
    nn.init.constant_(model.bias, 1.0)  # both logits are the same: 0 is predicted for every position
    batches = []
    for _ in range(9):
        labels = (torch.rand(1, 33, generator=gen) < 0.4).long()
        batches.append((torch.zeros(1, 33, 3, dtype=torch.bfloat16), labels))
    hits = sum(int((labels == 0).sum()) for _, labels in batches)
    report = answer.train_epoch(model, torch.optim.SGD(model.parameters(), lr=0.0), batches, 100.0)
    for name, wanted, digits in (("accuracy", hits / 297, 1e-5), ("loss", math.log(2), 0.03)):
        expect_that(
            math.isclose(report[name], wanted, rel_tol=digits),
            f"wrong {name} from train_epoch(…) of a model in bfloat16, with 33 labels in each of 9 batches",
            yours=f"{report[name]:.7g}",
            wanted=f"{wanted:.7g}",
            likely="numbers are added up in the dtype of the logits: bfloat16 cannot tell 297 from 296",
        )


def test_one_step_for_each_batch(answer, gen):
    """Model and optimizer run once for each batch, in the caller's mode, and old gradients do not count."""
    model, batches, seen = Tagger(gen).eval(), batches_of(gen, *SIZES), []
    twin = copy.deepcopy(model)
    wanted = written_out(twin, adamw(twin), batches, 0.7)
    # what the loss does not depend on would decay, where its gradient is not None
    for p in (*model.hidden.parameters(), model.unused, model.frozen):
        p.grad = torch.full_like(p, 5.0)
    optimizer = adamw(model)
    model.register_forward_hook(lambda m, *_: seen.append(("model", m.training)))
    optimizer.register_step_post_hook(lambda *_: seen.append(("step", False)))
    report = answer.train_epoch(model, optimizer, batches, 0.7)
    expect_equal(
        seen, [("model", False), ("step", False)] * 4, "the runs of model and optimizer, and their mode"
    )
    expect_report(report, wanted, "train_epoch(…) with old gradients")
    expect_weights(model, twin, "train_epoch(…) with old gradients")


class Token:
    """Hangs on a node of the graph, and is alive as long as the node is."""

    def __call__(self, *gradients):
        return None


def test_nothing_piles_up(answer, gen):
    """When a batch is asked for, the batch before, its graph and its logits are alive, and numbers alone."""
    model, batches, refs, found = Tagger(gen), batches_of(gen, *SIZES), [], []
    sources, targets = [], []

    def hook(_, inputs, logits):
        token = Token()
        logits.grad_fn.register_hook(token)
        refs.append((weakref.ref(token), weakref.ref(logits.untyped_storage())))

    def alive():
        """The numbers of the batches of which something is alive, apart from the last one."""
        kinds = (sources, targets, [graph for graph, _ in refs], [logits for _, logits in refs])
        numbers = {number for kind in kinds for number, ref in enumerate(kind) if ref() is not None}
        return sorted(numbers - {len(sources) - 1})

    def fresh(features, labels):
        features, labels = features.clone(), labels.clone()
        sources.append(weakref.ref(features.untyped_storage()))
        targets.append(weakref.ref(labels.untyped_storage()))
        return features, labels

    def loader():
        for batch in batches:
            if alive():
                gc.collect()  # what only hangs in a reference cycle is not kept
            found.append(alive())
            yield fresh(*batch)

    model.register_forward_hook(hook)
    answer.train_epoch(model, sgd(model), loader(), 0.7)
    expect_that(
        not any(found),
        "earlier batches (features or labels), their graphs or their logits are still alive",
        yours=f"{found}: the batches of which something is alive, as batch 0, 1, 2, … is asked for",
        wanted="none but the batch just before",
    )
    batches = batches_of(gen, (40, 50)) * 12  # a mask of it takes 2000 bytes, and its labels 16000
    few, many = (
        peak_bytes(lambda n=n: answer.train_epoch(model, plain_sgd(model), batches[:n])) for n in (4, 12)
    )
    expect_that(
        many < few + 8 * 1000,
        "something of each batch is kept until the end of the epoch",
        yours=f"{few} bytes at most in an epoch of 4 batches, {many} in one of 12",
        wanted="nothing but single numbers, such as the sum of its hits",
    )


def oracle(answer, gen):
    results = []
    for optimizer in (sgd, adamw):
        for max_norm in (100.0, 0.5):
            model = Tagger(gen).double()
            batches = [(x.double(), labels) for x, labels in batches_of(gen, *SIZES, unlabelled=(1,))]
            report = answer.train_epoch(model, optimizer(model), batches, max_norm)
            results.append([report[name] for name in NAMES])
            results.append([p.detach().float() for p in model.parameters()])
    return results
