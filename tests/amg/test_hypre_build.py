"""The build reports a missing or wrong hypre before it compiles anything."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

VMPI = Path(__file__).parents[2] / "vmpi"
HEADERS = Path("/usr/include/hypre")


@pytest.mark.usefixtures("amg_program")
@pytest.mark.parametrize("lacks", ["headers", "internal header", "library", "functions", "nothing"])
def test_what_is_missing_is_named(lacks: str, tmp_path: Path) -> None:
    if not HEADERS.is_dir():
        pytest.skip("hypre is not where Debian has it")
    given, said = "", ""
    if lacks == "headers":
        given, said = f"HYPRE_DIR={tmp_path}/none", f"hypre's headers are not in {tmp_path}/none"
    elif lacks == "internal header":
        (tmp_path / "public").mkdir()
        for header in HEADERS.glob("HYPRE*.h"):
            shutil.copy(header, tmp_path / "public")
        given, said = f"HYPRE_DIR={tmp_path}/public", "has only hypre's public headers; _hypre_parcsr_ls.h"
    elif lacks == "library":
        given, said = "HYPRE_A=none.a", "libHYPRE.a is not here (none.a)"
    elif lacks == "functions":
        (tmp_path / "other.c").write_text(
            "void hypre_BoomerAMGCycle(void); void hypre_BoomerAMGCycle(void) {}"
        )
        subprocess.run(["cc", "-c", "other.c"], cwd=tmp_path, check=True)
        subprocess.run(["ar", "rc", "other.a", "other.o"], cwd=tmp_path, check=True)
        given = f"HYPRE_A={tmp_path}/other.a"
        said = "lacks these functions, which identify the phases of set-up and cycle: hypre_"
    build = tmp_path / "build"
    words = [
        "make",
        "--silent",
        "-C",
        str(VMPI),
        f"BUILD={build}",
        *given.split(),
        str(build / "hypre-checked"),
    ]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode == 0) == (lacks == "nothing"), result.stderr
    assert said in result.stderr
    assert " hypre_BoomerAMGCycle" not in result.stderr
    assert not list(tmp_path.glob("build/*.o"))
