"""What the first page's look-up knows: the tables and entries of `kata find`, as data for a browser."""

import json
from collections.abc import Sequence

from grader.course.catalog import Catalog
from grader.course.lookup import asked, finding, ranking, words
from grader.course.lookup.entries import Entry
from grader.course.lookup.finding import Lookup
from grader.publish.book.places import page_of, place_of


def script(catalog: Catalog) -> str:
    """The file that holds it."""
    return f"const LOOKUP = {json.dumps(_known(catalog), ensure_ascii=False, separators=(',', ':'))};\n"


def _known(catalog: Catalog) -> dict[str, object]:
    lookup = Lookup(catalog)
    ranked = lookup.ranking
    return {
        **{"word": words.WORD.pattern, "address": words.ADDRESS.pattern, "hump": words.HUMP.pattern},
        **{"endings": words.ENDINGS, "shortest": words.SHORTEST, "same": words.SAME},
        "silent": sorted(words.SILENT),
        **{"raised": asked.RAISED.pattern, "trace": asked.TRACE.pattern},
        **{"weights": finding.WEIGHTS, "printed": finding.PRINTED, "share": finding.SHARE},
        **{"name": ranking.NAME, "below": ranking.BELOW},
        "rarity": {term: round(rarity, 3) for term, rarity in ranked.rarity.items()},
        "postings": {
            term: [(place, round(score, 3)) for place, score in held.items()]
            for term, held in ranked.postings.items()
        },
        "entries": [_entry(*pair) for pair in zip(lookup.entries, ranked.names, strict=True)],
    }


def _entry(entry: Entry, names: Sequence[set[str]]) -> dict[str, object]:
    symptom = entry.symptom
    checks = " ".join(f"`{c.look}` {c.tells}: {c.do}." for c in symptom.checks) if symptom else ""
    said = entry.text if entry.kind == "exercise" else checks
    return {
        "kind": entry.kind,
        "title": entry.name,
        "page": f"{page}.html" if (page := page_of(entry)) else "",
        "text": " ".join(f"{entry.tells if not symptom else ''} {said}".split()),
        "where": [(e.slug, f"{place_of(e)}.html") for e in entry.exercises if entry.kind != "exercise"],
        "names": [sorted(name) for name in names],
    }
