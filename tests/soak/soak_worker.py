"""Runs cases one after another for `soak.py`: paths come in line by line, what became of each goes out."""

from __future__ import annotations

import contextlib
import gc
import json
import resource
import sys
import traceback
from pathlib import Path

from soak_checks import faults_of

from odonata.errors import InternalError, OdonataError

ADDRESS_SPACE = 8 << 30
"""A case that takes more ends its worker."""


def outcome(path: Path) -> tuple[str, str]:
    """What became of a case, `ok`, `refused` or `failed`, and why."""
    # What the case before left would count in the peak of this one, but not in its estimate.
    gc.collect()
    with contextlib.suppress(OSError):
        # The peak of memory counts from here on.
        Path("/proc/self/clear_refs").write_text("5")
    try:
        faults = faults_of(path)
    except InternalError as error:
        return "failed", str(error)
    except OdonataError as error:
        return "refused", str(error)
    except Exception:
        return "failed", traceback.format_exc()
    return ("failed", "\n".join(faults)) if faults else ("ok", "")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        print(json.dumps(outcome(Path(line.strip()))), file=answers, flush=True)
