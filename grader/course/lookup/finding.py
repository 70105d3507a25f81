"""Find in a course what some words, or the message of an error, are about."""

from dataclasses import dataclass

from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.course.lookup import entries
from grader.course.lookup.asked import is_printed, message_of
from grader.course.lookup.entries import Entry, Kind
from grader.course.lookup.ranking import Document, Ranking

WEIGHTS: dict[Kind, float] = {"symptom": 1.2, "message": 1.2, "call": 0.9, "pitfall": 0.7, "exercise": 0.8}
"""What a match counts: who sees something go wrong wants to be told what to do, before reading on."""
PRINTED: dict[Kind, float] = {**WEIGHTS, "message": 1.8}
"""What it counts where an error was asked for as Python prints it."""
SHARE = 0.3
"""Of the first one's score, which a further one must have."""


@dataclass(frozen=True)
class Found:
    """Entries, the likeliest first; and the words that found them, where those asked for are nowhere."""

    entries: tuple[Entry, ...]
    instead: str = ""


class Lookup:
    """All that a course has to look up, ready to be asked."""

    def __init__(self, catalog: Catalog) -> None:
        self.entries = entries.everything(catalog)
        self.ranking = Ranking([_document(entry) for entry in self.entries])

    def find(self, asked: str) -> Found:
        """What these words, or this printed message, are about; else the words spelt most like them."""
        wanted, weights = message_of(asked), PRINTED if is_printed(asked) else WEIGHTS
        by_place = [weights[entry.kind] for entry in self.entries]
        ranked, instead = self.ranking.of(wanted, by_place), ""
        if not ranked:
            instead = self.ranking.nearest(wanted)
            ranked = self.ranking.of(instead, by_place)
        least = ranked[0][0] * SHARE if ranked else 0.0
        return Found(tuple(self.entries[place] for score, place in ranked if score >= least), instead)


def _document(entry: Entry) -> Document:
    """An entry as it is ranked."""
    fields = ((entry.name, 3.0), (" ".join(entry.also), 1.5), (entry.tells, 1.0), (entry.text, 0.7))
    return Document(
        fields, (entry.name, *entry.also) if entry.kind != "call" else (), entry.kind == "message"
    )


def about(catalog: Catalog, topic: str) -> set[Exercise]:
    """The exercises that have all these words in a name, a title or a concept."""
    words = topic.casefold().split()

    def holds(exercise: Exercise) -> bool:
        said = (exercise.slug.replace("_", " "), exercise.slug, exercise.title)
        return any(
            all(word in text.casefold() for word in words) for text in (" ".join(said), *exercise.concepts)
        )

    return {e for e in catalog.exercises if words and holds(e)}
