"""Where Open MPI is."""

from __future__ import annotations

import re
import shutil
import subprocess


def openmpi(tool: str) -> str:
    """A tool of Open MPI, by Debian's own name for it: another MPI may come first under the plain one."""
    return shutil.which(f"{tool}.openmpi") or tool


def windows() -> str:
    """Its components for one-sided calls without single copies, which need rights that containers lack."""
    version = subprocess.run([openmpi("mpirun"), "--version"], capture_output=True, text=True, check=True)
    return "pt2pt,sm" if re.search(r"\((Open MPI|OpenRTE)\) [1-4]\.", version.stdout) else "rdma,sm"
