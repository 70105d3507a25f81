"""In which order your loaders give thirty rows: the darker, the later in the data."""

from collections.abc import Iterator
from types import ModuleType

from grader.learner.plot import shades


def see(loader_settings: ModuleType) -> Iterator[str]:
    data = list(range(30))
    train, test = loader_settings.make_loaders(data, data, batch_size=5)

    def order(loader: object) -> list[int]:
        return [number for batch in loader for number in batch.tolist()]

    yield f"to be judged by\n{shades([order(test)])}"
    yield f"to learn from, four epochs\n{shades([order(train) for _ in range(4)])}"
