"""Where the data of the tests are."""

from pathlib import Path

FIXTURES = Path(__file__).resolve().parent / "fixtures"
SNAPSHOTS = Path(__file__).resolve().parent / "_snapshots"
