"""The simulated device: installing it, its traffic, and what it refuses."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.checks import CheckFailure, devices
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host, to_device
from grader.checks.devices.traffic import Traffic
from tests.grader.support.fresh_device import counted, mixed, on_device, same


@on_device
def test_install_names_the_device_and_may_be_repeated(device: torch.device) -> None:
    assert devices.install() is device
    assert (str(device), device.type, device.index) == ("sim:0", "sim", 0)
    x = torch.ones(2, device="sim")
    assert x.device == device and not x.is_cuda and not x.is_cpu and x.is_sim
    assert is_simulated(x) and not is_simulated(on_host(x)) and not is_simulated(1)


def test_another_backend_in_the_slot_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_installed", False)
    monkeypatch.setattr(torch._C, "_get_privateuse1_backend_name", lambda: "npu")
    with pytest.raises(RuntimeError, match="'npu' holds"):
        devices.install()


@on_device
def test_host_and_device_helpers(device: torch.device) -> None:
    leaf = torch.rand(2, requires_grad=True)
    with count_traffic() as traffic:
        moved = to_device({"a": [leaf, torch.arange(3)], "b": (1, "x")})
        back = on_host(moved["a"][0])
    assert (traffic.to_device, traffic.to_host, traffic.syncs) == (0, 0, 0)
    assert moved["a"][0].is_leaf and moved["a"][0].requires_grad and moved["b"] == (1, "x")
    assert same(moved["a"][1], torch.arange(3))
    assert type(back) is Tensor and not back.requires_grad and torch.equal(back, leaf)
    back.zero_()
    assert on_host(moved["a"][0]).count_nonzero() == 2


@on_device
def test_transfers_are_counted(device: torch.device) -> None:
    host, x = torch.rand(2, 3), torch.rand(2, 3, device=device)
    assert counted(lambda: torch.tensor([1.0, 2.0], device=device)) == (1, 0, 0)
    assert counted(lambda: x.new_tensor([1.0])) == (1, 0, 0)
    assert counted(lambda: host.to(device, torch.float64)) == (1, 0, 0)
    assert counted(lambda: x.copy_(host)) == (1, 0, 0)
    assert counted(lambda: nn.Linear(2, 2).to(device)) == (2, 0, 0)
    assert counted(lambda: x.to(device)) == (0, 0, 0)
    assert counted(lambda: x.to(torch.float64)) == (0, 0, 0)
    assert counted(lambda: x.cpu()) == (0, 1, 1)
    assert counted(lambda: x.to("cpu", torch.float64)) == (0, 1, 1)
    assert counted(lambda: x.to("cpu", non_blocking=True)) == (0, 1, 0)
    assert counted(lambda: host.copy_(x)) == (0, 1, 1)
    assert counted(lambda: host.copy_(x, non_blocking=True)) == (0, 1, 0)


@on_device
def test_synchronisations_are_counted(device: torch.device) -> None:
    x = torch.arange(6.0, device=device).reshape(2, 3)
    one = x[1, 1]
    for reads in (one.item, lambda: float(one), lambda: bool(one), lambda: int(one), lambda: f"{one:.2f}"):
        assert counted(reads) == (0, 1, 1)
    assert counted(lambda: x.tolist()) == (0, 1, 1)
    assert counted(lambda: torch.tensor([one, one])) == (0, 2, 2)
    assert counted(lambda: repr(x)) == (0, 1, 1)
    assert counted(lambda: torch.equal(x, x)) == (0, 1, 1)
    assert counted(lambda: x.nonzero()) == (0, 0, 1)
    assert counted(lambda: x[x > 2]) == (0, 0, 1)
    assert counted(lambda: x.unique()) == (0, 0, 1)
    assert counted(lambda: x.masked_select(x > 2)) == (0, 0, 1)
    assert counted(lambda: torch.accelerator.synchronize()) == (0, 0, 1)
    assert counted(lambda: torch.get_device_module(device).synchronize()) == (0, 0, 1)


@on_device
def test_what_waits_for_nothing_is_not_counted(device: torch.device) -> None:
    x = torch.arange(6.0, device=device).reshape(2, 3)
    rows = torch.tensor([1, 0], device=device)

    def work() -> None:
        y = torch.where(x > 2, x, 0.0).masked_fill(x > 4, 1.0) * torch.tensor(2.0)
        y[y > 1] = 0.0
        y[0], y[:, 1:] = 1.0, 3.0
        assert x[rows].shape == (2, 3) and len(y) == 2 and y.argmax(dim=1).shape == (2,)

    assert counted(work) == (0, 0, 0)


@on_device
def test_counters_nest_and_stop(device: torch.device) -> None:
    x = torch.ones(2, device=device)
    with count_traffic() as outer:
        with count_traffic() as inner:
            x.cpu()
        x.cpu()
    x.cpu()
    assert (outer.to_host, inner.to_host) == (2, 1)


@on_device
def test_numbers_that_come_back_are_counted(device: torch.device) -> None:
    x, host = torch.ones(2, 3, device=device), torch.zeros(2, 3)
    for fetch, wanted in ((x.cpu, 6), (x[0].tolist, 3), (x.sum().item, 1), (lambda: host.copy_(x), 6)):
        with count_traffic() as traffic:
            fetch()
        assert (traffic.to_host, traffic.numbers) == (1, wanted)


def test_traffic_is_told_by_its_direction() -> None:
    expect_no_traffic(Traffic(), "f(x)", waits=True)
    expect_no_traffic(Traffic(syncs=1), "f(x)")
    with pytest.raises(CheckFailure, match=r"copies between .* in f\(x\)\n  yours   to the host: 2"):
        expect_no_traffic(Traffic(to_host=2, syncs=2), "f(x)")
    with pytest.raises(CheckFailure, match=r"copies and waits .*\n  yours   to the device: 1, waits: 2"):
        expect_no_traffic(Traffic(to_device=1, syncs=2), "f(x)", waits=True)


@on_device
def test_cpu_tensors_do_not_mix(device: torch.device) -> None:
    host = torch.rand(3, 3)
    x = host.to(device)
    labels = torch.tensor([0, 1, 2])
    for wrong in (
        lambda: x + host,
        lambda: host + x,
        lambda: x @ host,
        lambda: F.linear(x, host),
        lambda: torch.cat([x, host]),
        lambda: torch.stack([x[0, 0], torch.tensor(1.0)]),
        lambda: x.add_(host),
        lambda: host.add_(x),
        lambda: host.add_(x[0, 0]),
        lambda: torch.tensor(1.0).add_(x[0, 0]),
        lambda: torch.where(x > 0, x, host),
        lambda: x.index_select(0, labels),
        lambda: x.gather(0, labels[None]),
        lambda: x.__setitem__(labels, host),
        lambda: F.embedding(labels, x),
        lambda: F.cross_entropy(x, labels),
        lambda: F.layer_norm(x, (3,), torch.ones(3)),
        lambda: nn.Linear(3, 3)(x),
        lambda: torch.add(x, x, out=host),
    ):
        with mixed():
            wrong()
    with pytest.raises(RuntimeError, match="argument mat2 in method mm"):
        x @ host
    with pytest.raises(RuntimeError, match="same device as the indexed tensor"):
        host[labels.to(device)]
    with torch.inference_mode(), mixed():
        x + host


@on_device
def test_what_cuda_takes_from_the_cpu(device: torch.device) -> None:
    host = torch.rand(3, 4)
    x, two = host.to(device), torch.tensor(2.0)
    assert same(x * two, host * 2) and same(two - x, 2 - host) and same(x.clone().mul_(two), host * 2)
    assert same(torch.where(x > 0.5, x, two), torch.where(host > 0.5, host, 2.0))
    assert same(x.masked_fill(x > 0.5, two), host.masked_fill(host > 0.5, 2.0))
    assert same(x.clamp(max=two / 4), host.clamp(max=0.5))
    rows = torch.tensor([2, 0])
    assert same(x[rows], host[rows]) and counted(lambda: x[rows]) == (1, 0, 0)
    assert same(x[host > 0.5], host[host > 0.5]) and counted(lambda: x[host > 0.5]) == (1, 0, 0)
    x[rows], host[rows] = two, two
    x[1], host[1] = torch.arange(4.0), torch.arange(4.0)
    assert same(x, host)


@on_device
def test_generators_of_the_cpu_are_refused(device: torch.device) -> None:
    generator = torch.Generator()
    x = torch.ones(3, device=device)
    for draw in (
        lambda: torch.randn(3, device=device, generator=generator),
        lambda: torch.randperm(3, device=device, generator=generator),
        lambda: x.normal_(generator=generator),
        lambda: torch.multinomial(x, 2, generator=generator),
    ):
        with pytest.raises(RuntimeError, match="Expected a 'sim' device type for generator but found 'cpu'"):
            draw()


@on_device
def test_the_device_has_random_numbers_of_its_own(device: torch.device) -> None:
    torch.manual_seed(5)
    cpu = torch.get_rng_state()
    first = on_host(torch.rand(8, device=device))
    F.dropout(torch.ones(8, device=device))
    assert torch.equal(torch.get_rng_state(), cpu)
    assert not torch.equal(first, torch.rand(8))
    torch.manual_seed(5)
    assert same(torch.rand(8, device=device), first)
    state = torch.get_device_module(device).get_rng_state()
    dropped = on_host(F.dropout(torch.ones(64, device=device)))
    torch.get_device_module(device).set_rng_state(state)
    assert same(F.dropout(torch.ones(64, device=device)), dropped) and 0 < dropped.count_nonzero() < 64


@on_device
def test_default_devices(device: torch.device) -> None:
    with torch.device(device):
        assert torch.rand(2).device == torch.tensor([1]).device == nn.Linear(1, 1).weight.device == device
    assert torch.zeros(1).device.type == "cpu"
    torch.set_default_device(device)
    assert torch.arange(3).device == device and "device='sim:0'" in repr(torch.ones(2))


@on_device
def test_accelerator_queries(device: torch.device) -> None:
    assert torch.accelerator.is_available() and torch.accelerator.device_count() == 1
    assert torch.accelerator.current_accelerator() == torch.device("sim")
    assert torch.accelerator.current_device_index() == 0
    module = torch.get_device_module(device)
    assert module is torch.get_device_module() and module.is_available() and module.current_device() == 0


@on_device
def test_pinned_memory_and_loaders(device: torch.device) -> None:
    pinned = torch.rand(3).pin_memory()
    assert pinned.is_pinned() and not torch.rand(3).is_pinned()
    data = torch.utils.data.TensorDataset(torch.rand(4, 2))
    for (batch,) in torch.utils.data.DataLoader(data, batch_size=2, pin_memory=True):
        assert batch.is_pinned() and batch.to(device, non_blocking=True).device == device
