"""How a child tells what it finds: a JSON line each, on the descriptor that it was given."""

import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple


class Telling(NamedTuple):
    """Where findings are written to, and the mark of each line. A tuple: neither can be replaced."""

    write: Callable[[bytes], int]
    mark: str

    @classmethod
    def to(cls, descriptor: int, mark: str) -> "Telling":
        return cls(os.fdopen(descriptor, "wb", buffering=0).write, mark)

    def tell(self, **finding: Any) -> None:
        line = f"{self.mark}{json.dumps(finding)}\n".encode()
        while line:
            line = line[self.write(line) :]
