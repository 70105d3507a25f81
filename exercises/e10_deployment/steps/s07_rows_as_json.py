"""A model answers requests: `rows_as_json(model, text, features)`.

A request is a JSON text with rows of numbers; so is the reply. A row that has not `features` numbers gets
an error in words and no traceback. Otherwise reply with what the model makes of the rows.

    # a model that returns the sum of each row
    rows_as_json(model, '{"inputs": [[1, 2], [3, 4.5]]}', 2)    # '{"outputs": [[3.0], [7.5]]}'
    rows_as_json(model, '{"inputs": [[1, 2], [3]]}', 2)         # '{"error": "row 1 has 1 numbers, not 2"}'

- The wording of an error is yours.

New here: `json.loads(text)` makes a dictionary of a text, `json.dumps` a text of a dictionary. Rows go in
as float32.
"""

import json

import torch
from torch import nn


def rows_as_json(model: nn.Module, text: str, features: int) -> str:
    raise NotImplementedError
