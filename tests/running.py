"""The type of the fixture that runs `odonata`; not in `conftest`, of which there are several."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Command = Callable[..., "subprocess.CompletedProcess[str]"]
