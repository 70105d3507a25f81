"""From a wrong value to words: what differs, where, and the likely cause."""
