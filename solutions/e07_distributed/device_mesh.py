import torch
import torch.distributed as dist


def make_groups(data: int, model: int) -> tuple[dist.ProcessGroup, dist.ProcessGroup]:
    if data * model != dist.get_world_size():
        raise ValueError(f"{data} · {model} is not {dist.get_world_size()}, the number of ranks")
    table = torch.arange(data * model).view(data, model)
    copy, part = place_of(dist.get_rank(), model)
    # every rank makes all groups, in the same order: new_group is a collective of the whole world
    columns = [dist.new_group(column.tolist()) for column in table.mT]
    rows = [dist.new_group(row.tolist()) for row in table]
    return columns[part], rows[copy]


def place_of(rank: int, model: int) -> tuple[int, int]:
    return divmod(rank, model)
