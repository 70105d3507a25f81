"""A model answers requests: `rows_as_json(model, text, features)`.

Requests are valid JSON texts with rows of numbers; so are replies. If a row has not `features` numbers, the
whole reply is an `error`, in your words. Otherwise reply with what the model makes of the rows.

    # a model that returns the sum of each row
    rows_as_json(model, '{"inputs": [[1, 2], [3, 4.5]]}', 2)
    # '{"outputs": [[3.0], [7.5]]}'
    rows_as_json(model, '{"inputs": [[1, 2], [3]]}', 2)
    # '{"error": "row 1 has 1 numbers, not 2"}'

- Nothing is raised.

New here: `json.loads(text)` makes a dictionary of a text, `json.dumps` a text of one that holds
lists. Rows go in as float32.
"""

import json

import torch
from torch import nn


def rows_as_json(model: nn.Module, text: str, features: int) -> str:
    raise NotImplementedError
