"""What an error of torch's most likely comes from, where its own words do not say."""

import re

_WORDS = (
    (
        "Expected all tensors to be on the same device",
        "a tensor is made on the CPU, or moved there: device=x.device",
    ),
    (
        "does not require grad and does not have a grad_fn",
        "nothing that this is computed from requires a gradient, or the graph is cut on the way",
    ),
    (
        "Trying to backward through the graph a second time",
        "a tensor from an earlier call or step still has its graph: `.detach()` what is kept",
    ),
    (
        "a leaf Variable that requires grad is being used in an in-place operation",
        "a parameter is changed while autograd records: do that in `with torch.no_grad():`",
    ),
    (
        "refers to a single memory location",
        "an expanded tensor is written to, whose elements share their memory: `.clone()` it before",
    ),
    (
        "meta tensor",
        'a tensor on "meta" has a shape and no numbers: `.item()`, `.cpu()` and an `if` on it fail',
    ),
    (
        "the unspecified dimension size -1 can be any value",
        "the tensor is empty, so that -1 could stand for any size: write the size out",
    ),
)
_NOT_IMPLEMENTED = re.compile(r'"(\w+)" not implemented for \'(\w+)\'')
_DTYPES = {
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Half": "float16",
}


def cause_of_error(error: BaseException) -> str | None:
    """One likely cause, for the errors of which learners make little."""
    if not isinstance(error, RuntimeError):  # as NotImplementedError is
        return None
    text = str(error)
    if found := _NOT_IMPLEMENTED.search(text):
        operation = re.sub(r"(_impl)?_(cpu|cuda|mps)_?$", "", found[1])
        dtype = _DTYPES.get(found[2], found[2].lower())
        return f"torch cannot do this ({operation}) in {dtype}: convert the tensor to another dtype before"
    return next((told for words, told in _WORDS if words in text), None)
