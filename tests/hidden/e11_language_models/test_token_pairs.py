"""What grades token_pairs: merges, ids and texts; short texts, letters cut in two, pairs met once."""

from functools import partial

import torch

from grader.checks.contract import Contract, given, values


def numbers(found, *sizes):
    """Pairs and ids as a tensor, whether they are tuples or lists; else what came."""
    try:
        return torch.tensor([*found], dtype=torch.int64).reshape(-1, *sizes)
    except (TypeError, ValueError, RuntimeError):
        return found


def joined(ids, pair, new, skip=1, end=0):
    """Token by token; with a mistake where asked."""
    result, place = [], 0
    while place < len(ids) - end:
        found = ids[place : place + 2] == [*pair]
        result.append(new if found else ids[place])
        place += 1 + (skip if found else 0)
    return result


def seen(ids, overlaps=True):
    """How often each pair is there, in the order in which they are met."""
    counts, place = {}, 0
    while place < len(ids) - 1:
        pair = (ids[place], ids[place + 1])
        counts[pair] = counts.get(pair, 0) + 1
        place += 2 if not overlaps and ids[place + 1 : place + 3] == [*pair] else 1
    return counts


def learned(text, count, *, ids=None, best=None, once=False, base=256, least=1, overlaps=True, **how):
    ids, merges = list(text.encode()) if ids is None else ids, []
    first = seen(ids)
    best = best or (lambda counts: max(counts, key=counts.get))
    for new in range(base, base + count):
        counts = {p: n for p, n in first.items() if p not in merges} if once else seen(ids, overlaps)
        if not counts or max(counts.values()) < least:
            break
        merges.append(best(counts))
        ids = joined(ids, merges[-1], new, **how)
    return numbers(merges, 2)


def encoded(text, merges, *, ids=None, order=1, base=256, **how):
    ids = list(text.encode()) if ids is None else ids
    for n, pair in [*enumerate(merges)][::order]:
        ids = joined(ids, pair, base + n, **how)
    return numbers(ids)


def pieces(merges):
    made = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        made.append(made[first] + made[second])
    return made


def longest_first(text, merges):
    """At each place the longest token that fits."""
    made, data, ids = pieces(merges), text.encode(), []
    while data:
        ids.append(max((i for i, p in enumerate(made) if data.startswith(p)), key=lambda i: len(made[i])))
        data = data[len(made[ids[-1]]) :]
    return numbers(ids)


def by_frequency(text, merges):
    """The most frequent pair of the text in question, if it is known."""
    ids = list(text.encode())
    while known := {pair: n for pair, n in seen(ids).items() if pair in merges}:
        pair = max(known, key=known.get)
        ids = joined(ids, pair, 256 + merges.index(pair))
    return numbers(ids)


def decoded(ids, merges):
    made = pieces(merges)
    return b"".join(made[i] for i in ids).decode(errors="replace")


def one_by_one(ids, merges):
    return "".join(pieces(merges)[i].decode(errors="replace") for i in ids)


def as_characters(ids, merges):
    return "".join(map(chr, b"".join(pieces(merges)[i] for i in ids)))


def letters(text):
    return [ord(letter) for letter in text]


def text_of(gen, alphabet="abcde", words=60):
    """Words that come again and again."""
    sizes = torch.randint(2, 6, (9,), generator=gen).tolist()
    known = ["".join(alphabet[i] for i in torch.randint(len(alphabet), (n,), generator=gen)) for n in sizes]
    return " ".join(known[i] for i in torch.randint(9, (words,), generator=gen).tolist())


def learned_pairs(text, count):
    return [tuple(pair) for pair in learned(text, count).tolist()]


FOREIGN = "aéß日本🙂\n"


def known(gen, alphabet, other=None, count=25):
    """A text, and what was learned from it; or another text of the same letters."""
    text = text_of(gen, alphabet)
    return given(text_of(gen, other) if other else text, learned_pairs(text, count))


def ids_of(gen, alphabet, count=25):
    text, merges = known(gen, alphabet, count=count).args
    return given(encoded(text, merges).tolist(), merges)


SKIP = "both of two pairs that overlap are replaced: behind a merge the next token is another's"

train = Contract(
    "train(text, count)",
    reference=learned,
    use=lambda answer, *args: numbers(answer.train(*args), 2),
    inputs=lambda gen: {
        "a text of five letters": given(text_of(gen), 20),
        "a text of two letters": given(text_of(gen, "ab"), 15),
        "a text of one letter and spaces": given(text_of(gen, "a"), 8),
        "a text of several bytes per letter": given(text_of(gen, FOREIGN), 30),
    },
    dims="merge side",
    suspects={
        "a letter's number is taken: a text begins as its bytes": lambda text, count: learned(
            text, count, ids=letters(text)
        ),
        "pairs are counted once: after each merge they are others": partial(learned, once=True),
        "of equally frequent pairs it is the last: the first that is met counts": partial(
            learned, best=lambda counts: max(reversed(counts), key=counts.get)
        ),
        "of equally frequent pairs it is the one of the largest ids: the first that is met counts": partial(
            learned, best=lambda counts: max(counts, key=lambda pair: (counts[pair], pair))
        ),
        "of equally frequent pairs it is the one of the smallest ids: the first that is met counts": partial(
            learned, best=lambda counts: min(counts, key=lambda pair: (-counts[pair], pair))
        ),
        'pairs that overlap are counted as one: (97, 97) is in "aaa" twice': partial(learned, overlaps=False),
        "new tokens begin at 257: the first is 256": partial(learned, base=257),
        SKIP: partial(learned, skip=0),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "a short text": given("abcdabceab", 6),
                "a text that runs out of pairs": given("abcab", 9),
                "a text of one byte": given("z", 2),
                "the empty text": given("", 3),
                "no merges": given("abab", 0),
            },
            name="few_pairs",
            title="Pairs met once are merged as well, until none is left.",
        ),
    ],
)

encode = Contract(
    "encode(text, merges)",
    reference=encoded,
    use=lambda answer, *args: numbers(answer.encode(*args)),
    inputs=lambda gen: {
        "the text learned from": known(gen, "abcde"),
        "another text": known(gen, "abc", "abc"),
        "a text of few letters": known(gen, "ab", "aab"),
        "a text of one letter and spaces": known(gen, "a", "a", 8),
        "several bytes per letter": known(gen, FOREIGN, FOREIGN),
    },
    dims="token",
    suspects={
        "a letter's number is taken: a text begins as its bytes": lambda text, merges: encoded(
            text, merges, ids=letters(text)
        ),
        "the longest token that fits is taken: merges go in the order of learning": longest_first,
        "this text's most frequent pair goes first: merges go in the order of learning": by_frequency,
        "merges go from the last to the first: the first one learned goes first": partial(encoded, order=-1),
        "new tokens begin at 257: the first is 256": partial(encoded, base=257),
        SKIP: partial(encoded, skip=0),
        "the last token is lost at each merge: it has no neighbour, and stays": partial(encoded, end=1),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "the empty text": given("", [(97, 97)]),
                "a text of one byte": given("z", [(97, 97)]),
                "no merges": given("né", []),
            },
            name="short_texts",
            title="A text of no tokens or one is encoded as well, and so is one without merges.",
        ),
    ],
)

decode = Contract(
    "decode(ids, merges)",
    reference=decoded,
    inputs=lambda gen: {
        "letters of one byte": ids_of(gen, "abcde"),
        "several bytes per letter": ids_of(gen, FOREIGN),
        "several bytes per letter, few merges": ids_of(gen, "é日🙂", 4),
    },
    suspects={
        "tokens are decoded one by one: a letter may spread over several": one_by_one,
        "each byte is taken for a letter: a letter may have several": as_characters,
    },
    fine=[
        values(
            inputs=lambda gen: {
                "the first two bytes of three": given([97, 230, 151], []),
                "a beginning that is cut off": given([256, 98], [(159, 153)]),
            },
            name="half_letters",
            title="Bytes that are no whole letter are decoded to \\ufffd.",
        ),
    ],
)
