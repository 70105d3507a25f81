"""What grades diffusion_grey: pictures, path, loss, model, average, painting; what stays; cost."""

import inspect

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that

PIXELS, NONE = 16, 9


class Field(nn.Module):
    """A model that says what it is told to, of label and time alone. It notes how it is called."""

    pixels, none = PIXELS, NONE

    def __init__(self, say):
        super().__init__()
        self.say, self.calls = say, []
        self.zero = nn.Parameter(torch.zeros(()))

    def forward(self, x, t, labels):
        self.calls.append((x.detach().clone(), t.detach().clone(), self.training, torch.is_grad_enabled()))
        return self.say(x, t, labels) + self.zero

    def times(self):
        """The times of which it was asked, one after the other."""
        every = [t for _, t, *_ in self.calls]
        return [float(t[0]) for k, t in enumerate(every) if not k or float(t[0]) != float(every[k - 1][0])]


def steady(velocity):
    return Field(lambda x, t, labels: torch.full_like(x, velocity))


def painted(answer, gen, model, rows=3, steps=8, **more):
    """What is painted, and from which noise."""
    x = answer.paint.paint(model, torch.arange(rows) % 3, steps, gen, **more)
    return x, model.calls[0][0][:rows]


def far(yours, wanted):
    return float((yours - wanted).abs().max())


def test_black_and_white(answer):
    """The model is shown black as -1, white as 1, and grey as what lies between."""
    levels = torch.tensor([0, 51, 102, 204, 255], dtype=torch.uint8)
    yours = answer.data.scaled(levels.view(-1, 1, 1).expand(-1, 8, 8))
    expect_that(tuple(yours.shape) == (5, 64), "scaled gives another shape for 5 pictures", yours=yours.shape)
    wanted = torch.tensor([-1.0, -0.6, -0.2, 0.6, 1.0])
    told = "what black, three greys and white become in training is not what painting reads as such"
    facts = {"yours": [round(v, 3) for v in yours[:, 0].tolist()], "wanted": "[-1.0, -0.6, -0.2, 0.6, 1.0]"}
    expect_that(far(yours, wanted.unsqueeze(1)) < 1e-5, told, **facts)


def test_times_of_a_batch(answer, gen):
    """The rows of a batch are at different times, from the whole way."""
    t = answer.flow.times(1000, gen)
    expect_that(tuple(t.shape) == (1000,), "times(1000, gen) has another shape", yours=tuple(t.shape))
    distinct = len(set(t.tolist()))
    told = "rows of a batch are at the same time"
    expect_that(distinct > 900, told, yours=f"{distinct} different times for 1000 rows")
    shares = [round(float(((t >= k / 4) & (t < (k + 1) / 4)).float().mean()), 2) for k in range(4)]
    told = "times are not spread evenly over the way from 0 to 1"
    expect_that(all(0.15 < share < 0.35 for share in shares), told, shares_by_quarter=shares)


def test_ends_of_the_path(answer, gen):
    """A row at time 0 is its noise, and one at time 1 its picture, whatever the times of other rows are."""
    noise, x = torch.randn(2, PIXELS, PIXELS, generator=gen)
    t = (torch.arange(PIXELS) % 3) / 2
    yours = answer.flow.between(noise, x, t)
    for time, wanted, name in (
        (0, noise, "its noise"),
        (1, x, "its picture"),
        (0.5, (noise + x) / 2, "half-way"),
    ):
        off = far(yours[t == time], wanted[t == time])
        told = f"a row at time {time:g} is not {name}, in a batch whose rows are at times 0, 0.5 and 1"
        expect_that(off < 1e-5, told, yours=f"off by {off:.2f}")
    off = far(answer.flow.between(noise[:3], x[:3], t[:3]), torch.stack([noise[0], (noise + x)[1] / 2, x[2]]))
    expect_that(off < 1e-5, "three rows are somewhere else than in a larger batch", yours=f"off by {off:.2f}")


def test_where_it_leads(answer, gen):
    """Who follows the velocity for one unit of time arrives at the picture."""
    noise, x = torch.randn(2, 5, PIXELS, generator=gen)
    ends = noise + answer.flow.direction(noise, x)
    told = "from the noise, the velocity that is learned does not arrive at the picture at time 1"
    facts = {"yours": f"off by {far(ends, x):.2f}", "distance_at_time_0": round(far(noise, x), 2)}
    expect_that(far(ends, x) < 1e-5, told, **facts)


def test_opposite_errors(answer, gen):
    """Errors of two pictures that are opposite do not cancel each other in the loss."""
    x = 10 * torch.ones(PIXELS, PIXELS) * (1 - 2 * (torch.arange(PIXELS) % 2)).unsqueeze(1)
    labels = torch.zeros(PIXELS, dtype=torch.int64)
    loss = float(answer.flow.flow_loss(steady(0.0), x, labels, gen).detach())
    told = "a model that says 0 for pictures of 10 and of -10 has opposite errors, and its loss does not tell"
    expect_that(80 < loss < 125, told, yours=round(loss, 3), wanted="about 101")


def test_labels_that_stay(answer, gen):
    """Most rows keep the label that they have; the share that is told loses it."""
    labels = torch.arange(4000) % 4
    for share in (0.1, 0.3):
        yours = answer.flow.some_unlabelled(labels, NONE, share, gen)
        lost = float((yours == NONE).float().mean())
        told = f"other than {share:.0%} of the labels are lost where a share of {share} is to be"
        expect_that(abs(lost - share) < 0.06, told, yours=f"{lost:.0%}")
        kept = yours != NONE
        expect_that(bool((yours[kept] == labels[kept]).all()), "labels that are kept are others than before")


def test_times_apart(answer):
    """The model can tell times that are near each other."""
    t = torch.tensor([0.3, 0.31, 0.8])
    yours = answer.model.waves(t)
    k = torch.arange(16) / 16
    angles = 1000 * t.unsqueeze(1) / 10000**k
    wanted = torch.cat([angles.sin(), angles.cos()], dim=1)
    ways = [round(float((w[0] - w[1]).norm()), 3) for w in (yours, wanted)]
    told = "the times 0.3 and 0.31 look nearly the same to the model"
    expect_that(ways[0] > 1.0, told, distance_of_their_waves=ways[0], wanted=ways[1])
    expect_that(far(yours, wanted) < 1e-2, "waves(t) are other waves than in README.md", yours=yours[0][:4])


def test_slow_average(answer):
    """The average follows the weights as slowly as its decay says."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    average = answer.train.Average(model, 0.9)
    nn.init.ones_(model.weight)
    found = []
    for _ in range(3):
        average.update(model)
        found.append(round(average.model.weight.item(), 4))
    told = (
        "the average follows the weights at another pace than a decay of 0.9 has: from 0, the weight is 1 now"
    )
    near = all(abs(yours - wanted) < 1e-4 for yours, wanted in zip(found, (0.1, 0.19, 0.271), strict=True))
    expect_that(near, told, yours=found, wanted=[0.1, 0.19, 0.271])


def test_starts_differ(answer, gen):
    """Each picture is painted from a noise of its own, so that no two of a kind are alike."""
    _, start = painted(answer, gen, steady(0.0), rows=6)
    distinct = len({tuple(row) for row in start.tolist()})
    told = "pictures of one batch begin alike, and those of one kind come out alike"
    expect_that(distinct == 6, told, yours=f"{distinct} different noises for 6 pictures")


def test_times_of_steps(answer, gen):
    """At each step of painting, the model is asked for the velocity at the time that is reached."""
    model = steady(0.5)
    painted(answer, gen, model, steps=8)
    yours, wanted = model.times()[:6], [k / 8 for k in range(6)]
    told = "in 8 steps of painting, the model is asked at other times than are reached"
    near = len(yours) == 6 and all(abs(a - b) < 1e-4 for a, b in zip(yours, wanted, strict=True))
    expect_that(near, told, yours=[round(t, 3) for t in yours], wanted=wanted)


def test_end_of_the_path(answer, gen):
    """Painting goes all the way from noise to picture, whatever the number of steps is."""
    for steps in (4, 1, 10):
        model = steady(0.25)
        if steps == 1:
            x = answer.paint.paint(model, torch.zeros(3, dtype=torch.int64), 1, gen)
            expect_that(
                bool(model.calls), "painting in 1 step stops before it has begun: no velocity is asked for"
            )
            start = model.calls[0][0][:3]
        else:
            x, start = painted(answer, gen, model, steps=steps)
        inner = start.abs() < 0.6
        way = round(float((x - start)[inner].mean()) / 0.25, 3)
        told = f"painting in {steps} steps stops before it is there, or goes further"
        expect_that(abs(way - 1) < 1e-3, told, share_of_the_way=way, wanted=1)


def test_nothing_is_cut(answer, gen):
    """Painting goes on from where a step has led, also where that is darker than black."""
    x, start = painted(answer, gen, steady(0.0), rows=8)
    told = (
        "noise beyond black and white is cut on the way: the velocity is 0 everywhere, and something changes"
    )
    largest = [round(float(v.abs().max()), 3) for v in (start, x)]
    expect_that(far(x, start) < 1e-5, told, largest_before=largest[0], largest_after=largest[1])


def test_stronger_guidance(answer, gen):
    """More guidance leads further to what the label says."""
    model = Field(
        lambda x, t, labels: (
            (labels == NONE).float().unsqueeze(1).expand_as(x) + 5 * (labels == 2).unsqueeze(1)
        )
    )
    x, t, labels = torch.randn(4, PIXELS, generator=gen), torch.full((4,), 0.5), torch.full((4,), 2)
    yours = [
        round(float(answer.paint.guided(model, x, t, labels, g).mean().detach()), 3) for g in (0.0, 1.0, 3.0)
    ]
    told = (
        "guidance leads away from the label, or too far: the velocity is 1 without a label and 5 with it, "
        "guidance is 0, 1 and 3"
    )
    expect_that(yours == [1.0, 5.0, 13.0], told, yours=yours, wanted=[1.0, 5.0, 13.0])


def test_mode_of_painting(answer, gen):
    """The same noise is painted into the same pictures each time: nothing else is drawn."""
    for training in (True, False):
        model = steady(0.5).train(training)
        painted(answer, gen, model, steps=3)
        loud = sum(mode for *_, mode, _ in model.calls)
        told = "the model paints in training mode: its dropout changes the picture in each step"
        expect_that(not loud, told, yours=f"{loud} of {len(model.calls)} calls")


SIGNATURES = {
    "data.clean": "",
    "data.pictures": "count seed",
    "data.scaled": "pictures",
    "data.unscaled": "x",
    "data.nearest": "pictures",
    "model.waves": "t",
    "model.Velocity": "pixels kinds width layers dropout",
    "flow.times": "size gen",
    "flow.between": "noise x t",
    "flow.direction": "noise x",
    "flow.some_unlabelled": "labels none share gen",
    "flow.flow_loss": "model x labels gen share",
    "paint.guided": "model x t labels guidance",
    "paint.paint": "model labels steps gen guidance",
    "train.Average": "model decay",
    "train.train": "steps seed say",
    "train.examine": "model count say",
}
SHAPES = {
    "enter.weight": (8, 16),
    "enter.bias": (8,),
    "time.weight": (8, 32),
    "time.bias": (8,),
    "kind.weight": (4, 8),
    "layers.0.weight": (8, 8),
    "layers.0.bias": (8,),
    "leave.weight": (16, 8),
    "leave.bias": (16,),
}


def test_signatures(answer):
    """Names, arguments, and the names and shapes of weights stay, so that old checkpoints are loaded."""
    for name, wanted in SIGNATURES.items():
        file, function = name.split(".")
        yours = " ".join(inspect.signature(getattr(getattr(answer, file), function)).parameters)
        expect_that(yours == wanted, f"the arguments of {name} have changed", yours=yours, wanted=wanted)
    state = answer.model.Velocity(PIXELS, 3, 8, layers=1).state_dict()
    yours = {name: tuple(value.shape) for name, value in state.items()}
    expect_equal(yours, SHAPES, "names and shapes of the weights of Velocity(16, 3, 8, layers=1)")


def test_painted_bytes(answer):
    """What is painted becomes bytes from 0 to 255; what is beyond black or white is black or white."""
    x = torch.tensor([-1.6, -1.0, -0.6, 0.2, 1.0, 1.1]).view(-1, 1).expand(-1, 64)
    yours = answer.data.unscaled(x)
    expect_that(yours.dtype == torch.uint8, "unscaled gives no bytes", yours=yours.dtype)
    wanted = [0, 0, 51, 153, 255, 255]
    told = "painted levels become other bytes"
    expect_that(yours[:, 3, 4].tolist() == wanted, told, yours=yours[:, 3, 4].tolist(), wanted=wanted)


def test_mode_afterwards(answer, gen):
    """Painting leaves the model in the mode in which it was."""
    for training in (True, False):
        model = steady(0.5).train(training)
        painted(answer, gen, model, steps=2)
        told = f"a model with training={training} has another mode after painting"
        expect_that(model.training == training, told, yours=model.training)


def test_average_is_apart(answer):
    """The average is a model of its own: neither follows the other by itself."""
    model = nn.Linear(2, 2)
    average = answer.train.Average(model, 0.5)
    before = [p.detach().clone() for p in average.model.parameters()]
    with torch.no_grad():
        model.weight.add_(1.0)
        model.bias.add_(1.0)
    same = all(map(torch.equal, before, average.model.parameters()))
    expect_that(same, "the average changes with the model, before any update")


@pytest.mark.fine
def test_one_call(answer, gen):
    """Each step of painting calls the model once, with and without labels together."""
    model = steady(0.5)
    x, labels = torch.randn(4, PIXELS, generator=gen), torch.zeros(4, dtype=torch.int64)
    answer.paint.guided(model, x, torch.full((4,), 0.5), labels, 2.0)
    expect_that(len(model.calls) == 1, "guided calls the model more than once", yours=len(model.calls))


@pytest.mark.fine
def test_no_graph(answer, gen):
    """Painting builds no graph."""
    model = steady(0.5)
    painted(answer, gen, model, steps=2)
    expect_that(not any(on for *_, on in model.calls), "paint builds a graph for a backward")


def oracle(answer, gen):
    def numbers():
        levels = torch.randint(256, (3, 8, 8), generator=gen, dtype=torch.uint8)
        return [answer.data.scaled(levels), *answer.data.nearest(levels)]

    def path():
        noise, x = torch.randn(2, 6, PIXELS, generator=gen)
        t = torch.rand(6, generator=gen)
        return [answer.flow.between(noise, x, t), answer.flow.direction(noise, x)]

    def loss():
        """Of a model that is off by known numbers, whatever noise and times are drawn."""
        off = torch.randn(PIXELS, PIXELS, generator=gen)
        model = Field(lambda x, t, labels: off - x / (1 - t).unsqueeze(1))
        zeros = torch.zeros(PIXELS, dtype=torch.int64)
        return answer.flow.flow_loss(model, torch.zeros(PIXELS, PIXELS), zeros, gen).detach()

    def velocities():
        model = answer.model.Velocity(PIXELS, 3, 8, dropout=0.5).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(0.4 * torch.randn(parameter.shape, generator=gen))
            x = torch.randn(4, PIXELS, generator=gen)
            return model(x, torch.tensor([0.0, 0.001, 0.002, 0.003]), torch.arange(4))

    def ways():
        """How far painting leads from its noise."""
        rate = torch.rand(PIXELS, generator=gen)
        model = Field(lambda x, t, labels: rate * (1 + t + labels).unsqueeze(1))
        x, start = painted(answer, gen, model, steps=5, guidance=1.5)
        return x - start

    def averages():
        first, second = torch.randn(2, 3, 4, generator=gen)
        model = nn.Linear(4, 3, bias=False)
        model.weight.data.copy_(first)
        average = answer.train.Average(model, 0.8)
        model.weight.data.copy_(second)
        for _ in range(3):
            average.update(model)
        return average.model.weight.detach()

    return {
        "pictures as numbers": numbers,
        "a path": path,
        "a loss": loss,
        "velocities of a small model": velocities,
        "ways of painting": ways,
        "an average": averages,
    }
