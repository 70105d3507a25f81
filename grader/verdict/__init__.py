"""From a transcript to the record of an answer."""
