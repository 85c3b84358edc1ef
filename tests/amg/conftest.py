"""What needs hypre is skipped, and reported, where its program is not built (`make hypre`)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from openmpi_tools import openmpi

from odonata.amg import program
from odonata.errors import OdonataError


@pytest.fixture(scope="session")
def amg_program() -> Path:
    """The hierarchy program on virtual ranks."""
    try:
        return program.find()
    except OdonataError:
        pytest.skip("the hierarchy program is not built; run `make hypre`")


@pytest.fixture(scope="session")
def openmpi_program(amg_program: Path) -> Path:
    """The same program on Open MPI."""
    path = amg_program.with_name("amg-hierarchy-openmpi")
    if not path.exists() or shutil.which(openmpi("mpirun")) is None:
        pytest.skip("the Open MPI program is not built; run `make hypre`")
    return path
