"""Two ways to split at once: which ranks share a group.

Large models are split over a few ranks (tensor parallelism), and several such copies train on data of their own. The ranks
then lie in a table of `data` rows and `model` columns, filled row by row. A row is one copy of the model; a column holds the
ranks that have the same part of it, and average its gradients.

    #            model 0   model 1
    # copy 0     rank 0    rank 1
    # copy 1     rank 2    rank 3
    data_group, model_group = make_groups(data=2, model=2)
    # on rank 1: data_group holds the ranks 1 and 3, model_group the ranks 0 and 1
    place_of(rank=2, model=2)                 # (1, 0): copy 1, part 0
    dist.all_reduce(x, group=data_group)      # adds up x over the copies

- Every rank calls, and gets its own two groups.
- Groups without this rank need not be there; groups of one rank are groups too.

Fine print:
- If there are not data · model ranks, every rank raises ValueError, before any group is made.
"""

import torch.distributed as dist


def make_groups(data: int, model: int) -> tuple[dist.ProcessGroup, dist.ProcessGroup]:
    """This rank's column (the same part in all copies) and row (all parts of its copy)."""
    raise NotImplementedError


def place_of(rank: int, model: int) -> tuple[int, int]:
    """The copy that a rank belongs to, and which part of the model it has."""
    raise NotImplementedError
