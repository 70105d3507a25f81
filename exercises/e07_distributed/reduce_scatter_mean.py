"""Each rank's part of the mean: reduce-scatter.

With sharded parameters a rank needs the mean gradient of its own part alone. An all-reduce would send it the rest as well. A
reduce-scatter adds up over the ranks and leaves each with one part of the sum.

    # two ranks; rank 0 has x = [1., 2., 3., 4.], rank 1 has x = [3., 4., 5., 8.]
    reduce_scatter_mean(x)      # [2., 3.] on rank 0, [4., 6.] on rank 1

- x is a vector, of the same length on all ranks, which their number divides.
- Rank r gets part r of the mean over all ranks. x stays as it is.

Fine print:
- Any length: all parts are as long as if it were rounded up to a multiple of the ranks; the last ones have fewer, or none.
- bfloat16 and float16 are summed in float32, and only the mean is rounded; the dtype stays.
- A call costs one reduce_scatter of the padded vector, and no other message.
"""

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor


def reduce_scatter_mean(x: Float[Tensor, "numbers"]) -> Float[Tensor, "part"]:
    """This rank's part of the mean of x over the ranks."""
    raise NotImplementedError
