"""What grades compiled_slower: graphs, copies and waits of each part; what is to stay; cost."""

import inspect

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_number, expect_that
from grader.checks.compile.graphs import compiled
from grader.checks.devices import count_traffic, on_host

HOST = torch.device("cpu")


@pytest.fixture(autouse=True)
def _fresh():
    """A compiler that knows nothing, and the random stream as it was."""
    before = torch.get_rng_state()
    torch.compiler.reset()
    yield
    torch.compiler.reset()
    torch.set_rng_state(before)


def graphs_of(fn, batches, call, dynamic=None):
    """How many graphs serve these calls."""
    with compiled(fn, call, fullgraph=False, dynamic=dynamic) as captured:
        for batch in batches:
            captured(*batch)
    return captured.graphs


def expect_one_graph(fn, batches, call, what, dynamic=None):
    number = len(graphs_of(fn, batches, call, dynamic))
    facts = {"graphs": number, "calls": len(batches), "wanted": "1 graph"}
    expect_that(number == 1, f"{call}: {what}", **facts)


def test_squash_again(answer, gen):
    """The features are compiled again, for nothing that is new."""
    calls = [[torch.randn(2, 3, generator=gen)] for _ in range(4)]
    expect_one_graph(answer.model.squash, calls, "squash(x)", "compiled again in calls of one shape")


def test_mask_copies(answer, device):
    """Something is copied to the device for each mask."""
    lengths = torch.tensor([2, 0, 5]).to(device)
    with count_traffic() as traffic:
        found = answer.model.mask(lengths, 6)
    wanted = torch.arange(6) < torch.tensor([2, 0, 5])[:, None]
    expect_equal(on_host(found), wanted, "mask(lengths, 6)")
    copies = traffic.to_device + traffic.to_host
    expect_that(copies == 0, "something is copied between host and device in mask(lengths, 6)", copies=copies)


def test_distances_of_lengths(answer):
    """Distances are compiled anew for each length."""
    calls = [[time, HOST] for time in (3, 5, 8, 13)]
    what = "compiled again for other lengths"
    expect_one_graph(answer.model.distances, calls, "distances(time, device)", what, dynamic=True)


def heads(gen, rows, time=4):
    q, k, v = torch.randn(3, rows, 2, time, 3, generator=gen)
    return q, k, v, torch.randn(rows, 2, time, time, generator=gen)


def test_attend_grows(answer, gen):
    """The graph of the attention grows with the rows of a batch."""
    sizes = []
    for rows in (2, 7):
        graphs = graphs_of(answer.model.attend, [heads(gen, rows)], "attend(q, k, v, bias)")
        sizes.append(sum(node.op.startswith("call") for graph in graphs for node in graph.graph.nodes))
    what = "attend(q, k, v, bias) has other than as many operations for 7 rows as for 2"
    expect_that(sizes[0] == sizes[1] > 0, what, operations=sizes)


def test_bounded_pieces(answer, gen):
    """Adding a bounded update takes several graphs."""
    x, update = torch.randn(2, 3, 4, generator=gen)
    calls = [[x, update * size] for size in (0.1, 5.0, 0.2)]
    expect_one_graph(answer.model.bounded, calls, "bounded(x, update)", "several graphs, small and large")


def test_pooled_pieces(answer, gen):
    """The mean over a row takes several graphs."""
    calls = [[torch.randn(2, 6, 3, generator=gen), torch.tensor(n)] for n in ([4, 2], [5, 6], [3, 3])]
    expect_one_graph(answer.model.pooled, calls, "pooled(x, lengths)", "several graphs for one shape")


def test_scale_pieces(answer, gen):
    """The normalisation takes several graphs."""
    calls = [[torch.randn(2, 6, 3, generator=gen)] for _ in range(3)]
    expect_one_graph(answer.model.Scale(3), calls, "Scale(3)", "several graphs for one shape")


def test_recency_steps(answer):
    """With each training step the bias is compiled again."""
    answer.model.distances(4, HOST)
    calls = [[4]] * 6
    what = "compiled again in later training steps"
    expect_one_graph(answer.model.Recency(2).train(), calls, "Recency(2)", what)


def test_feed_forward_again(answer, gen):
    """The feed-forward part is compiled again, for nothing that is new."""
    calls = [[torch.randn(2, 4, generator=gen)] for _ in range(4)]
    expect_one_graph(answer.model.FeedForward(4), calls, "FeedForward(4)", "compiled again, call after call")


def test_rows_of_batches(answer, gen):
    """Batches differ in their number of rows."""
    sequences = [(torch.randn(5 + n, 2, generator=gen), n % 4) for n in range(10)]
    for size in (4, 3):
        rows = [len(part) for batch in answer.data.batches(sequences, size) for part in batch]
        what = f"a batch of other than {size} rows in batches(sequences, {size}) of 10 sequences"
        expect_that(set(rows) == {size}, what, rows=rows[::3])


class Bag(nn.Module):
    """A stand-in for the model: scores from means."""

    def __init__(self, gen=None):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 4, generator=gen))

    def forward(self, x, lengths):
        return x.mean(1) @ self.weight


def batch(gen, time=16, rows=3):
    x, lengths = torch.randn(rows, time, 2, generator=gen), torch.tensor([4, 0, 6, 5, 2][:rows])
    return x, lengths, torch.tensor([3, 0, 1, 2, 2][:rows])


def counting():
    """A backend, and the graphs that it was given."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    return backend, graphs


def test_lengths_of_training(answer, gen):
    """Training compiles anew for each length of a batch."""
    backend, graphs = counting()
    trainer = answer.train.Trainer(Bag(gen), backend)
    for time in (16, 32, 48, 64):
        trainer.step(*batch(gen, time))
    what = "training compiles other than one or two graphs for batches of four lengths"
    expect_that(1 <= len(graphs) <= 2, what, graphs=len(graphs))


def test_further_epochs(answer, gen):
    """Each epoch compiles what was compiled before."""
    backend, graphs = counting()
    trainer = answer.train.Trainer(Bag(gen), backend)
    after = []
    for _ in range(3):
        trainer.epoch([batch(gen)] * 2)
        after.append(len(graphs))
    what = "other than one graph, in the first epoch, for three epochs of one shape"
    expect_that(after == [1, 1, 1], what, graphs_after_each=after)


def test_step_waits(answer, gen, device):
    """The host waits for the device in each step."""
    trainer = answer.train.Trainer(Bag(gen).to(device))
    batches = [[t.to(device) for t in batch(gen)] for _ in range(3)]
    with count_traffic() as traffic:
        for there in batches:
            trainer.step(*there)
    waits = max(traffic.syncs, traffic.to_host)
    expect_that(waits == 0, "the host waits for the device in three calls of step", waits=waits)


SIGNATURES = {
    "data.make": "number seed",
    "data.batches": "sequences size",
    "model.squash": "x",
    "model.mask": "lengths time",
    "model.distances": "time device",
    "model.attend": "q k v bias",
    "model.bounded": "x update limit",
    "model.pooled": "x lengths",
    "model.Recency": "heads warmup",
    "model.Net": "width heads",
    "train.loss_of": "scores lengths labels",
    "train.Trainer": "model backend lr",
    "train.train": "epochs seed say",
}
STATE = {
    "embed.weight": (8, 2),
    "embed.bias": (8,),
    "norm.weight": (8,),
    "qkv.weight": (24, 8),
    "recency.slopes": (2,),
    "feed.up.weight": (16, 8),
    "feed.up.bias": (16,),
    "feed.down.weight": (8, 16),
    "feed.down.bias": (8,),
    "head.weight": (4, 8),
    "head.bias": (4,),
}


def test_state(answer):
    """Names, signatures, and the names and shapes of what is saved stay."""
    for name, wanted in SIGNATURES.items():
        file, function = name.split(".")
        yours = " ".join(inspect.signature(getattr(getattr(answer, file), function)).parameters)
        expect_that(yours == wanted, f"the signature of {name} has changed", yours=yours, wanted=wanted)
    yours = {name: tuple(value.shape) for name, value in answer.model.Net(8, 2).state_dict().items()}
    expect_that(yours == STATE, "the names or shapes of Net's state_dict have changed", yours=yours)


def test_recency_strength(answer):
    """The bias grows with the calls in training mode, up to its full strength, and not with others."""
    recency = answer.model.Recency(2, warmup=3)
    far = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    for mode, strength in [(True, 1), (False, 1), (True, 2), (True, 3), (False, 3), (True, 3)]:
        wanted = -strength / 3 * recency.slopes.detach()[:, None, None] * far
        yours = recency.train(mode)(3).detach()
        expect_close(yours, wanted, f"the bias of strength {strength}/3, in mode training={mode}")


def test_values_of_parts(answer, gen):
    """The parts compute what they did."""
    x, update = torch.randn(2, 3, 6, 4, generator=gen)
    lengths = torch.tensor([4, 0, 6])
    for size in (0.1, 5.0):
        large, rms = update * size, (update * size).square().mean().sqrt().item()
        yours = answer.model.bounded(x, large, 0.5)
        expect_close(yours, x + large * min(1.0, 0.5 / rms), f"bounded(x, {size} · update, 0.5)", scale=1.0)
    wanted = torch.stack([x[0, :4].mean(0), torch.zeros(4), x[2].mean(0)])
    expect_close(answer.model.pooled(x, lengths), wanted, "pooled(x, [4, 0, 6])", scale=1.0)
    q, k, v, bias = heads(gen, 3)
    wanted = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    expect_close(answer.model.attend(q, k, v, bias), wanted, "attend(q, k, v, bias)", scale=1.0, ulps=64)
    feed = answer.model.FeedForward(4)
    wanted = (feed.up(x) > 0).float().mean().item()
    feed(x)
    expect_number(float(feed.active), wanted, "the share of hidden numbers above 0", rtol=1e-5)


def test_no_row_is_lost(answer, gen):
    """Each sequence is in one batch, in order, with zeros behind it."""
    sequences = [(torch.randn(4 * n + 3, 2, generator=gen), n % 4) for n in range(10)]
    found = []
    for x, lengths, labels in answer.data.batches(sequences, 4):
        expect_that(x.shape[1] % 16 == 0, "a batch is padded to no multiple of 16", time=x.shape[1])
        for row, n, label in zip(x, lengths.tolist(), labels.tolist(), strict=True):
            expect_that(not row[n:].any(), "a row is padded with other than zeros")
            found += [(row[:n], label)] if n else []
    expect_equal(len(found), 10, "the number of sequences in batches(sequences, 4) of 10")
    for number, (yours, wanted) in enumerate(zip(found, sequences, strict=True)):
        expect_equal(yours[0], wanted[0], f"sequence {number} in its batch")
        expect_equal(yours[1], wanted[1], f"the label of sequence {number} in its batch")


def test_empty_rows(answer, gen):
    """Empty rows count neither in the loss nor in the accuracy."""
    bag, (x, lengths, labels) = Bag(gen), batch(gen, rows=5)
    scores = bag(x, lengths).detach()
    held = lengths > 0
    yours = answer.train.loss_of(scores, lengths, labels)
    expect_close(yours, F.cross_entropy(scores[held], labels[held]), "the loss of 4 rows and an empty one")
    wanted = (scores.argmax(-1) == labels)[held].float().mean().item()
    accuracy = answer.train.Trainer(bag).evaluate([(x, lengths, labels)] * 2)
    expect_number(accuracy, wanted, "the accuracy of 4 rows and an empty one", rtol=1e-5)


@pytest.mark.fine
def test_evaluation_waits(answer, gen, device):
    """An evaluation copies at most two numbers to the host, for however many batches."""
    trainer = answer.train.Trainer(Bag(gen).to(device))
    batches = [[t.to(device) for t in batch(gen)] for _ in range(5)]
    with count_traffic() as traffic:
        trainer.evaluate(batches)
    what = "an evaluation of five batches copies more than two numbers to the host"
    expect_that(
        traffic.to_host <= 2 and traffic.syncs <= 2, what, copies=traffic.to_host, waits=traffic.syncs
    )


@pytest.mark.fine
def test_no_graph_kept(answer, gen):
    """The total keeps nothing for a backward."""
    trainer = answer.train.Trainer(Bag(gen))
    trainer.step(*batch(gen))
    kept = getattr(trainer.total, "requires_grad", False)
    expect_that(not kept, "after a step the total has a graph for a backward")


def oracle(answer, gen):
    def net(gen):
        model = answer.model.Net(8, 2)
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(0.5 * torch.randn(p.shape, generator=gen))
        return model

    def scores(gen):
        model = net(gen).train()
        return [model(*batch(gen, rows=5)[:2]).detach() for _ in range(3)]

    def losses(gen):
        trainer = answer.train.Trainer(net(gen), lr=1e-3)
        return [trainer.epoch([batch(gen, time, rows=5)] * 2) for time in (16, 32)]

    def rows(gen):
        sequences = [(torch.randn(5 + 3 * n, 2, generator=gen), n % 4) for n in range(9)]
        return [list(found) for found in answer.data.batches(sequences, 3)]

    return {
        "the scores of a small model in training": scores,
        "the losses of two epochs": losses,
        "the batches of nine sequences": rows,
    }
