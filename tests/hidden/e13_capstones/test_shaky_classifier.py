"""What grades shaky_classifier: data, network, measuring and training, each apart; what stays; cost."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from grader.checks import expect_equal, expect_that, global_rng_untouched


def copied(gen, count=60):
    """Pictures that tell their number, half of them copies, and labels that are told by the picture."""
    number = torch.randint(count // 2, (count,), generator=gen)
    pictures = torch.zeros(count, 1, 8, 8)
    pictures[:, 0, 0, 0] = number.float()
    return pictures, number % 4


def numbers(pictures):
    """Which pictures these are."""
    return pictures[:, 0, 0, 0].round().long()


def drawn(gen, count, scale=1.0):
    return scale * torch.randn(count, 1, 8, 8, generator=gen), torch.randint(4, (count,), generator=gen)


class Says(nn.Module):
    """Says the class that stands in each row, whatever the mode; counts its calls."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(4))
        self.calls, self.graphs = 0, 0

    def forward(self, pictures):
        self.calls += 1
        out = F.one_hot(pictures.flatten(1)[:, 0].long() % 4, 4) * 9.0 + self.bias
        self.graphs += out.requires_grad
        return out


def rows(*said):
    return torch.tensor(said, dtype=torch.float32).view(-1, 1, 1, 1).expand(-1, 1, 8, 8)


class Seen(list):
    """Batches that count how often they are gone through."""

    rounds = 0

    def __iter__(self):
        self.rounds += 1
        return super().__iter__()


class Silent:
    """A schedule that only counts."""

    steps = 0

    def step(self, *given):
        self.steps += 1


def right_and_wrong(*right):
    """A loader, and a model that is right about these rows."""
    labels = torch.arange(len(right)) % 4
    return rows(*[int(one) + (0 if hit else 1) for one, hit in zip(labels, right, strict=True)]), labels


def trained(answer, model, batches, scheduler=None):
    """An epoch of gradient descent at 0.1; the loss."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return answer.fit.train_epoch(model, batches, optimizer, scheduler or Silent())


def parts_of(answer, gen):
    return [drawn(gen, 37), drawn(gen, 11), drawn(gen, 13)]


def test_parts_share_no_picture(answer, gen):
    """No picture that is trained on is met again in validation or test."""
    pictures, labels = copied(gen)
    sets = [set(numbers(part).tolist()) for part, _ in answer.data.split(pictures, labels, 3)]
    both = (sets[0] & sets[1]) | (sets[0] & sets[2]) | (sets[1] & sets[2])
    facts = {"yours": f"{len(both)} of 30 pictures, though training is to know none of the others"}
    expect_that(not both, "the same pictures stand in two parts of split(pictures, labels, 3)", **facts)


def test_labels_of_parts(answer, gen):
    """In each part, the label of a picture is still that of the picture."""
    pictures, labels = copied(gen)
    for name, (part, kept) in zip(
        ("training", "validation", "test"), answer.data.split(pictures, labels, 4), strict=True
    ):
        wrong = int((numbers(part) % 4 != kept).sum())
        facts = {"yours": f"{wrong} of {len(kept)} rows to {name}"}
        expect_that(not wrong, "rows have the labels of other pictures after split(…)", **facts)


def test_other_test_pictures(answer, gen):
    """What training is given does not depend on the test pictures."""
    parts = parts_of(answer, gen)
    first = answer.data.normalised(parts)[0][0].clone()
    other = [parts[0], parts[1], (5 + 3 * parts[2][0], parts[2][1])]
    moved = float((answer.data.normalised(other)[0][0] - first).abs().max())
    told = "with other test pictures, normalised gives other training pictures"
    expect_that(moved < 1e-6, told, yours=f"they move by {moved:.3f}")


def test_shifts_differ(answer, gen):
    """A picture that is taken again is moved in another way."""
    pictures, labels = drawn(gen, 5)
    shifted = answer.data.Shifted(pictures, labels, 2)
    for index in (1, 4):
        ways = {tuple(shifted[index][0].flatten().tolist()) for _ in range(60)}
        told = f"picture {index} is always moved the same way"
        expect_that(len(ways) > 1, f"{told}, in every epoch", yours="1 way in 60 times", wanted="9")
        facts = {"yours": f"{len(ways)} ways in 60 times", "wanted": "about 9"}
        expect_that(6 <= len(ways) <= 9, f"picture {index} is moved in another number of ways", **facts)


def test_validation_pictures(answer, gen):
    """Validation sees the pictures as they are."""
    parts = parts_of(answer, gen)
    given = torch.cat([batch[0] for batch in answer.data.loaders(parts, 4, 5)["valid"]])
    same = len(given) == 11 and sum(map(torch.equal, given, parts[1][0]))
    told = "validation pictures in the loader are not those that were given"
    expect_that(same == 11, told, yours=f"{same} of 11 the same")


def test_two_networks_of_one_seed(answer):
    """A network that is built again with the same seed begins with the same weights."""
    weights = []
    for seed in (3, 3, 4):
        torch.rand(1)
        weights.append(torch.cat([p.detach().flatten() for p in answer.model.build(seed).parameters()]))
    told = "build(3) gives other weights the second time, so that two runs differ"
    expect_that(torch.equal(weights[0], weights[1]), told)
    expect_that(not torch.equal(weights[0], weights[2]), "build(3) and build(4) give the same weights")


def test_sure_logits(answer, gen):
    """A network can be sure of a class: its loss may fall to nearly nothing."""
    net = answer.model.Net()
    with torch.no_grad():
        net.head.weight.zero_()
        net.head.bias.copy_(torch.tensor([-6.0, 9.0, 2.0, -1.0]))
        out = net(drawn(gen, 3)[0])
        loss = float(F.cross_entropy(out, torch.ones(3, dtype=torch.int64)))
    told = "a network that is sure of the right class has a high loss"
    expect_that(loss < 0.01, told, yours=f"{loss:.3f}, for the outputs {out[0].tolist()}", wanted="0.001")


def test_measuring_changes_nothing(answer, gen):
    """Measuring a model leaves its weights and statistics as they are, and a row does not feel its batch."""
    net = answer.model.Net()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    net.train()
    answer.measure.accuracy(net, DataLoader(TensorDataset(*drawn(gen, 12, 3.0)), 5))
    changed = [name for name, value in net.state_dict().items() if not torch.equal(value, before[name])]
    expect_that(not changed, "measuring the accuracy changes the model", yours=", ".join(changed))


def test_statistics_follow(answer, gen):
    """An epoch of training also moves the statistics of batch norm, in whatever mode the model was."""
    net = answer.model.Net().eval()
    before = net.features[1].running_mean.clone()
    trained(answer, net, [drawn(gen, 8, 3.0), drawn(gen, 8, 3.0)])
    moved = float((net.features[1].running_mean - before).abs().max())
    told = "an epoch after a measurement does not move the statistics of batch norm"
    expect_that(moved > 0, told, yours=f"moved by {moved}")


def test_short_batch(answer):
    """A row in a short batch counts as much as one in a full batch."""
    pictures, labels = right_and_wrong(1, 1, 1, 1, 0, 1, 1, 1, 0)
    batches = [(p, n) for p, n in zip(pictures.split(4), labels.split(4), strict=True)]
    yours = answer.measure.accuracy(Says(), batches)
    told = "a short batch weighs otherwise: 4 of 4, 3 of 4 and 0 of 1 rows are right"
    expect_that(abs(yours - 7 / 9) < 1e-6, told, yours=yours, wanted=7 / 9)


def test_weights_come_back(answer):
    """What is restored are the weights of the best epoch, not those of the last."""
    model, best = nn.Linear(2, 2), answer.measure.Best()
    weight = model.weight.detach().clone()
    best.update(0.5, 0, model)
    with torch.no_grad():
        model.weight.add_(1.0)
    best.restore(model)
    off = float((model.weight - weight).abs().max().detach())
    told = "restore does not bring the weights of the best epoch back, but later ones"
    expect_that(off == 0, told, yours=f"off by {off:g} after the weights grew by 1")


def test_which_epoch_is_best(answer):
    """The best epoch is the first with the highest accuracy."""
    best, model = answer.measure.Best(), nn.Linear(1, 1)
    for epoch, score in enumerate((0.5, 0.75, 0.75, 0.25, 0.625)):
        best.update(score, epoch, model)
    told = "another epoch is kept than the best epoch of 0.5, 0.75, 0.75, 0.25, 0.625"
    facts = {"yours": f"epoch {best.epoch} with {best.score}", "wanted": "epoch 1 with 0.75"}
    expect_that((best.epoch, best.score) == (1, 0.75), told, **facts)


def measured(answer, epochs=3, **more):
    """What fit did with counted batches."""
    pictures, labels = right_and_wrong(1, 0, 1, 1)
    batches = {name: Seen([(pictures, labels)]) for name in ("train", "valid", "test")}
    answer.fit.fit(Says(), batches, epochs, **more)
    return batches


def test_what_fit_looks_at(answer):
    """Test pictures have no say in which epoch is chosen."""
    rounds = {name: batches.rounds for name, batches in measured(answer).items()}
    told = "the test pictures are gone through while the model is chosen"
    expect_that(not rounds["test"], told, yours=f"{rounds['test']} times in 3 epochs", wanted="0")


def test_schedule(answer):
    """The learning rate follows the epochs, however many batches they have."""
    for count in (1, 5):
        schedule = Silent()
        trained(answer, Says(), [right_and_wrong(1, 0)] * count, schedule)
        told = f"an epoch of {count} batches takes another number of steps of the schedule"
        expect_that(schedule.steps == 1, told, yours=schedule.steps, wanted=1)


def test_rows_are_used_once(answer, gen):
    """All rows are used, each row once, also where pictures are copies."""
    pictures, labels = copied(gen)
    parts = answer.data.split(pictures, labels, 6)
    yours = torch.cat([numbers(part) for part, _ in parts]).sort()[0]
    expect_that(torch.equal(yours, numbers(pictures).sort()[0]), "each row is to be in one part of split(…)")
    sizes = [len(part) for part, _ in answer.data.split(*drawn(gen, 100), 6)]
    expect_that(sizes == [60, 20, 20], "other sizes of parts for 100 pictures", yours=sizes)


def test_order_of_training(answer, gen):
    """The order of training pictures is another in each epoch, and that of the seed."""
    parts, labels = parts_of(answer, gen), torch.arange(37)
    parts[0] = (parts[0][0], labels)
    orders = []
    for _ in range(2):
        loader = answer.data.loaders(parts, 5, 7)["train"]
        orders.append([torch.cat([batch[1] for batch in loader]).tolist() for _ in range(2)])
        torch.rand(3)
    expect_that(len(orders[0][0]) == 35, "an epoch has other rows than 7 full batches of 5 out of 37")
    told = "the order of training pictures is the same in the second epoch"
    expect_that(orders[0][0] != orders[0][1], told)
    expect_that(orders[0] == orders[1], "the order of training is another with the same seed")


def test_all_are_measured(answer, gen):
    """All rows of validation and test come, in order."""
    parts = parts_of(answer, gen)
    batches = answer.data.loaders(parts, 4, 5)
    for name, (_, labels) in zip(("valid", "test"), parts[1:], strict=True):
        given = torch.cat([batch[1] for batch in batches[name]])
        expect_that(torch.equal(given, labels), f"other rows come from {name}", yours=len(given))


def test_checkpoint(answer):
    """The weights keep their names and shapes."""
    shapes = {name: tuple(value.shape) for name, value in answer.model.Net().state_dict().items()}
    wanted = {"features.0.weight": (8, 1, 3, 3), "features.0.bias": (8,)}
    wanted |= {"features.4.weight": (16, 8, 3, 3), "features.4.bias": (16,)}
    wanted |= {"head.weight": (4, 256), "head.bias": (4,)}
    for place, width in (("1", 8), ("5", 16)):
        names = ("weight", "bias", "running_mean", "running_var")
        wanted |= {f"features.{place}.{name}": (width,) for name in names}
        wanted[f"features.{place}.num_batches_tracked"] = ()
    expect_equal(shapes, wanted, "names and shapes of the weights of Net()")


def test_patience(answer):
    """Training ends once there was no better epoch for `patience` epochs."""
    yours = measured(answer, epochs=9, patience=3)["train"].rounds
    expect_that(yours == 4, "fit takes another number of epochs where none is better", yours=yours, wanted=4)


@pytest.mark.fine
def test_no_graph(answer):
    """Measuring builds no graph."""
    model = Says()
    answer.measure.accuracy(model, [right_and_wrong(1, 0)])
    expect_that(not model.graphs, "accuracy(model, loader) builds a graph")


@pytest.mark.fine
def test_one_forward(answer):
    """Each batch goes through the model once."""
    model, batches = Says(), Seen([right_and_wrong(1, 0)] * 4)
    trained(answer, model, batches)
    expect_that(model.calls == 4, "4 batches are more or fewer calls of the model", yours=model.calls)
    expect_that(batches.rounds == 1, "the loader is gone through more than once", yours=batches.rounds)


@pytest.mark.fine
def test_stream(answer):
    """Building a network leaves the global random stream where it was."""
    with global_rng_untouched("build(5)"):
        answer.model.build(5)


def oracle(answer, gen):
    parts = [drawn(gen, 9, 2.0), drawn(gen, 5), drawn(gen, 4)]
    hits = torch.randint(2, (10,), generator=gen).tolist()
    net = answer.model.Net()
    weights = {
        name: 0.2 * torch.randn(value.shape, generator=gen) ** 2 if value.dim() else value
        for name, value in net.state_dict().items()
    }
    batches = [drawn(gen, 6), drawn(gen, 6), drawn(gen, 3)]

    def scaled():
        return [pictures for pictures, _ in answer.data.normalised(parts)]

    def logits():
        net.load_state_dict(weights)
        with torch.no_grad():
            return net.eval()(batches[0][0])

    def losses():
        net.load_state_dict(weights)
        return [trained(answer, net, batches) for _ in range(3)]

    def shares():
        pictures, labels = right_and_wrong(*hits)
        split = zip(pictures.split(4), labels.split(4), strict=True)
        return answer.measure.accuracy(Says(), list(split))

    return {"normalised pictures": scaled, "logits": logits, "losses": losses, "accuracy": shares}
