from jaxtyping import Float32
from torch import Tensor


def there_and_back(
    x: Float32[Tensor, "*shape"],
) -> tuple[Float32[Tensor, "*shape"], Float32[Tensor, "*shape"]]:
    return x.half().float(), x.bfloat16().float()
