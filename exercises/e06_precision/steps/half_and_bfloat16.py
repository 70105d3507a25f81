"""What each of two dtypes loses: `half` and `bfloat16`.

Both take 2 bytes a number. Return x as it is after a round trip through float16, and after one through bfloat16:
there, and back to float32.

    x = torch.tensor([1.001, 70000.0])
    there_and_back(x)
    # (tensor([1.0010, inf]), tensor([1., 70144.]))
    # float16 ends at 65504; bfloat16 has no digit for .001

New here: `x.half()` casts x to float16, `x.bfloat16()` to bfloat16, `x.float()` to float32. A cast rounds: casting
back brings no digit back.
"""

from jaxtyping import Float32
from torch import Tensor


def there_and_back(
    x: Float32[Tensor, "*shape"],
) -> tuple[Float32[Tensor, "*shape"], Float32[Tensor, "*shape"]]:
    raise NotImplementedError
