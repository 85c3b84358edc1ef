"""Where Open MPI is."""

from __future__ import annotations

import shutil


def openmpi(tool: str) -> str:
    """A tool of Open MPI, by Debian's own name for it: another MPI may come first under the plain one."""
    return shutil.which(f"{tool}.openmpi") or tool
