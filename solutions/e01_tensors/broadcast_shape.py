from collections.abc import Sequence


def broadcast_shape(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for dim in range(-len(shape), 0):  # counted from the right, so no shape needs padding
            size = shape[dim]
            if result[dim] == 1:
                result[dim] = size
            elif size not in (1, result[dim]):
                raise ValueError(f"dimension {dim} is {result[dim]} in one shape and {size} in another")
    return tuple(result)
