import torch
import torch.distributed as dist
from jaxtyping import Int, Shaped
from torch import Tensor


def gather_metrics(
    values: Shaped[Tensor, "rows *columns"], places: Int[Tensor, "rows"]
) -> Shaped[Tensor, "all_rows *columns"]:
    counts = [torch.zeros(1, dtype=torch.int64) for _ in range(dist.get_world_size())]
    dist.all_gather(counts, torch.tensor([len(places)]))
    rows = [int(count) for count in counts]
    values, places = _everybodys(values, rows), _everybodys(places, rows)
    result = values.new_zeros(int(places.max()) + 1, *values.shape[1:])
    result[places] = values  # a place that comes twice is written twice
    return result


def _everybodys(x: Tensor, rows: list[int]) -> Tensor:
    padded = x.new_zeros(max(rows), *x.shape[1:])  # one shape on all ranks
    padded[: len(x)] = x
    parts = [torch.empty_like(padded) for _ in rows]
    dist.all_gather(parts, padded)
    return torch.cat([part[:count] for part, count in zip(parts, rows, strict=True)])
