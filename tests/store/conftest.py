"""Fixtures of the tests of run directories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import whole_directories

from odonata.sweeps import execute


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Whole directories of each kind. Sweeps go on in this process while a test uses them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "_pool", lambda _processes: nullcontext(whole_directories.SameProcess()))
        yield whole_directories.make(tmp_path_factory.mktemp("whole"))
