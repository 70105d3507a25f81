"""What a run of grading wrote, without what differs from run to run."""

import json
from pathlib import Path


def records_of(out: Path) -> dict[str, dict]:
    """Each student's record, no check having taken any time."""
    found = {file.stem: json.loads(file.read_text()) for file in out.glob("*.json")}
    for record in found.values():
        for exercise in record["exercises"].values():
            for check in exercise["checks"]:
                check["seconds"] = 0
    return found
