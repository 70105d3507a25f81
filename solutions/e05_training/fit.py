import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

Table = tuple[Float[Tensor, "rows features"], Int[Tensor, " rows"]]


class _InUnits(nn.Module):
    def __init__(self, features: Tensor, net: nn.Module) -> None:
        super().__init__()
        scale = features.std(0)
        self.register_buffer("mean", features.mean(0))  # buffers: part of the state_dict
        self.register_buffer("scale", torch.where(scale > 0, scale, torch.ones_like(scale)))
        self.net = net

    def forward(self, features: Tensor) -> Tensor:
        return self.net((features - self.mean) / self.scale)  # (rows, classes)


def _train(train: Table, classes: int, steps: int = 200, batch: int = 64, lr: float = 0.03) -> nn.Module:
    features, labels = train
    width = 48
    net = nn.Sequential(nn.Linear(features.shape[1], width), nn.Tanh(), nn.Linear(width, width), nn.ReLU())
    model = _InUnits(features, net.append(nn.Linear(width, classes)))
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    done = 0
    while done < steps:
        for rows in torch.randperm(len(labels)).split(batch):  # another order in each epoch
            optimizer.param_groups[0]["lr"] = lr * (1 - done / steps)  # down in a line
            loss = F.cross_entropy(model(features[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done += 1
            if done == steps:
                break
    return model.eval()


def fit(train: Table, valid: Table, classes: int, seed: int) -> tuple[nn.Module, float]:
    with torch.random.fork_rng(devices=[]):  # gives the global stream back
        torch.default_generator.manual_seed(seed)  # and not the GPUs' streams, as torch.manual_seed
        model = _train(train, classes)
    with torch.no_grad():
        hits = model(valid[0]).argmax(-1) == valid[1]  # (rows,)
    return model, hits.double().mean().item()
