"""The terms of a text: what two people who mean the same write alike.

Letters are small, endings are off (`trains`, `training`, `trained`), names are taken apart (`DataLoader`,
`zero_grad`), numbers, addresses and words that say nothing are left out, and what has several names has one
(`OOM`, `VRAM`). The book's search works by the same tables, which it gets as data.
"""

import re
from collections.abc import Iterator

WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)*")
ADDRESS = re.compile(r"\b0x[0-9a-f]+\b|(?:[A-Za-z]:)?(?:[\\/][\w.+-]+){2,}", re.IGNORECASE)
HUMP = re.compile(r"[A-Z]{3,}(?![a-z])|[A-Z]?[a-z]{2,}(?:\d[a-z]?(?![a-z]))?")

ENDINGS = (
    *(("isations", "is"), ("izations", "is"), ("isation", "is"), ("ization", "is"), ("ising", "is")),
    *(("izing", "is"), ("ised", "is"), ("ized", "is"), ("izes", "is"), ("ize", "is"), ("ise", "is")),
    *(("ications", "i"), ("ication", "i"), ("ibility", ""), ("ability", ""), ("ements", ""), ("ement", "")),
    *(("ations", ""), ("ation", ""), ("ating", ""), ("ated", ""), ("ates", ""), ("ate", "")),
    *(("ences", ""), ("ence", ""), ("ances", ""), ("ance", ""), ("ible", ""), ("able", ""), ("ness", "")),
    *(
        ("ions", ""),
        ("ion", ""),
        ("ings", ""),
        ("ing", ""),
        ("edly", ""),
        ("ied", "i"),
        ("ies", "i"),
        ("ply", "pli"),
    ),
    *(("ers", ""), ("er", ""), ("ed", ""), ("es", ""), ("ly", ""), ("ity", ""), ("y", "i"), ("s", "")),
    ("e", ""),
)
"""An ending and what stands in its place: the first that fits is taken off, once."""
SHORTEST = 3
"""Letters that must be left of a word."""

SAME = {
    **dict.fromkeys(["oom", "vram"], "memory"),
    **dict.fromkeys(["amp", "autocast", "fp16", "float16", "half", "bf16", "bfloat16"], "mixed precision"),
    **dict.fromkeys(["gpu", "gpus", "cuda", "nvidia"], "gpu"),
    **dict.fromkeys(["ddp", "distributeddataparallel", "distribute", "distributed", "ranks"], "rank"),
    **dict.fromkeys(["lr"], "learning rate"),
    **dict.fromkeys(
        ["hang", "hung", "hangs", "freeze", "freezes", "frozen", "stall", "deadlock", "deadlocks"], "hang"
    ),
    **dict.fromkeys(["acc"], "accuracy"),
    **dict.fromkeys(["val", "valid", "eval"], "validation"),
    **dict.fromkeys(["grad", "grads"], "gradient"),
    **dict.fromkeys(["ckpt", "checkpoints"], "checkpoint"),
    **dict.fromkeys(["nans"], "nan"),
    **dict.fromkeys(["infs", "infinite", "infinity"], "inf"),
    **dict.fromkeys(["param", "params"], "parameter"),
    **dict.fromkeys(["dim", "dims", "axis"], "dimension"),
    **dict.fromkeys(["slower", "slowly", "slowdown", "slows"], "slow"),
    **dict.fromkeys(["dataloader", "dataloaders", "loader"], "loader"),
    **dict.fromkeys(["crossentropyloss", "crossentropy"], "cross entropy"),
    **dict.fromkeys(["descrease", "descreasing", "decrese"], "decrease"),
    **dict.fromkeys(["converge", "convergence", "converging", "converges"], "converge"),
    **dict.fromkeys(["increas", "grow", "grew", "climb", "ris", "rose", "risen", "gradual"], "grow"),
    **dict.fromkeys(["declin", "fall", "falls", "fell"], "decrease"),
    **dict.fromkeys(["differ", "different", "differently", "difference", "discrepancy"], "differ"),
    **dict.fromkeys(["util", "utilised", "usage", "usages"], "utilization"),
    **dict.fromkeys(["restor", "restart", "reload"], "resume"),
    **dict.fromkeys(["photo", "pictur", "pictures", "img", "imgs"], "image"),
    **dict.fromkeys(["network", "net", "nets", "nn"], "model"),
    **dict.fromkeys(["fast", "faster", "speedup"], "speed"),
    **dict.fromkeys(["ram"], "host memory"),
    **dict.fromkeys(["finetun", "finetuned"], "fine tuning"),
    **dict.fromkeys(["quantis", "quantiz", "quant"], "quantize"),
    **dict.fromkeys(["nondeterministic", "nondeterminism", "unreproducible", "reproduce"], "reproducible"),
}
"""What has several names, or is often misspelt: words or stems, each with what it is known by here."""

_SAYS_NOTHING = """
a about after again all already also always am an and any anyone are as at be because been before being but
by can could did do does doing done each else error errors even ever every exception for from get gets
getting give gives got had has have having help here how however i if in into is issue it its just like made
make makes many may me more most much must my need no not now of off on once one only or other our out over
own please possible problem python pytorch question really run runs same seem seems should since so some
something still such than that the their them then there these they this those though to too torch try
trying under until up use used uses using very want was we were what when where which while who why will
with without would wrong you your runtimeerror valueerror typeerror
userwarning futurewarning
"""
SILENT = frozenset(_SAYS_NOTHING.split())
"""Words that tell nothing apart."""


def terms(text: str) -> list[str]:
    """The terms of a text, in its order."""
    return [term for word in _words(text) for term in _known(word)]


def _words(text: str) -> Iterator[str]:
    """Words in small letters: a name of several parts whole, and then each part."""
    for found in WORD.finditer(ADDRESS.sub(" ", text)):
        name = found[0]
        yield name.replace("_", "").casefold()
        pieces = name.split("_")
        parts = [part for piece in pieces for part in HUMP.findall(piece) if len(part) >= SHORTEST]
        if len(pieces) > 1 or len(parts) > 1:
            yield from (part.casefold() for part in parts)


def _known(word: str) -> Iterator[str]:
    for part in (SAME.get(word) or SAME.get(stem(word)) or word).split():
        if part not in SILENT and len(part) > 1 and not part.isdigit():
            yield stem(part)


def stem(word: str) -> str:
    """A word without its ending, and without a letter that is doubled before it: ``stopped``, ``loss``."""
    for ending, left in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) + len(left) >= SHORTEST:
            if ending == "s" and word.endswith("ss"):
                continue
            word = word.removesuffix(ending) + left
            break
    return word[:-1] if len(word) > SHORTEST and word[-1] == word[-2] else word
