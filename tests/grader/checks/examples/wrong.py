"""What the examples of grader.checks judge, each done wrong in a way that its example is about."""

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import Dataset


def softmax(x):
    return x.softmax(dim=0)


def sizes(x):
    return tuple(x.shape)


def scale_(x):
    return x * 2


def total(x):
    return (x * 2).sum()


def mean(numbers):
    return sum(numbers)


def exp(x):
    return x.float().exp()


def options():
    return {"lr": 0.1}


def score(x, w):
    return x @ w.detach()


def penalty(w):
    return 2 * w.exp().log().square().sum()


def halves(n):
    return n // 2, n // 2


def center(x):
    x -= x.mean().item() + 1
    return x.cpu()


def clipped(x):
    return x.clamp(max=1) if x.max() > 1 else x


def predict(model, x):
    return model.eval()(x).argmax(dim=1)


def logits(model, x):
    return model.forward(x)


def loss_of(model, loss_fn, x):
    return loss_fn(model(x)) + 0 * loss_fn(model(x))


def step(model, optimizer, x, target):
    loss = (model(x) - target).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def shuffled(n, gen):
    return torch.randperm(n)


def parts(x):
    return x.split(len(x) // 2)


def columns(x):
    return x.mT.contiguous()


def snapshot(x):
    return x.detach()


def running_mean(losses):
    return sum(losses) / len(losses)


def gram(x):
    return torch.stack([x @ row for row in x])


def indices(n):
    return torch.tensor([i for i in range(n)])


def positions(n):
    return torch.arange(n) / 1


def mean_square(x):
    return x.square().mean()


def project(x, w):
    return x @ w


def length(x):
    return x.square().sum().sqrt()


def first_column(x):
    return x.as_strided((len(x),), (x.shape[1],), x.storage_offset())


def mean_row(x):
    return x.mean(dim=0)


def scaled(x, by=1.0):
    return x / by


def shares(sold, dim, base=1.0):
    return base * sold / sold.sum(dim)


class Scale(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = torch.ones(features)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return x * 2


def all_mean(x):
    dist.all_reduce(x)
    dist.barrier()
    return x


def save(model, path):
    torch.save(model, path)


class Squares(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index * 3


async def now():
    return 0.0


async def pause(seconds):
    return None


async def app(scope, receive, send):
    raise RuntimeError("not ready")


def shape_of_result(model, x):
    shapes = []
    model.register_forward_hook(lambda _model, _given, out: shapes.append(out.shape))
    nn.modules.module.register_module_forward_hook(lambda *_: None)
    model(x)
    return shapes[0]


def twice(fn):
    with torch.autograd.profiler.profile():
        return [fn(), fn()]
