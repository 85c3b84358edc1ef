"""The script of a Slurm job array: what bash makes of its arguments, whatever stands in them."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from running import Command

from odonata._core import Experiment
from odonata.errors import OdonataError
from odonata.sweeps.slurm import script

HOSTILE = (
    'job.0.name = "a\ntouch broken-out\n"',
    'job.0.name = "it\'s $(touch broken-out) `touch broken-out`"',
    "back\\slash\\n\r\ttouch broken-out # é\u2028x\x1b0",
)
RECORD = f"""#!{sys.executable}
import json, os, sys
json.dump([os.getcwd(), *sys.argv[1:]], open(sys.argv[0] + ".json", "w"))
"""


def text(here: Path, directory: Path = Path("my runs/50% 'of it'")) -> str:
    return script(
        experiment=Experiment("", "an experiment.toml", HOSTILE),
        directory=directory,
        points=3,
        threads=2,
        here=here,
    )


def recorder(path: Path) -> Path:
    path.write_text(RECORD)
    path.chmod(0o755)
    return path


def settings() -> list[str]:
    return [part for change in HOSTILE for part in ("--set", change)]


def test_a_task_gets_the_arguments_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "a place"
    here.mkdir()
    monkeypatch.setattr(sys, "executable", str(recorder(tmp_path / "python of mine")))
    array = {"SLURM_ARRAY_TASK_ID": "1", "SLURM_CPUS_PER_TASK": "2", "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash"], input=text(here), text=True, env=array, cwd=tmp_path, check=True)
    found = json.loads((tmp_path / "python of mine.json").read_text())
    expected = ["sweep", "an experiment.toml", "-o", "my runs/50% 'of it'", *settings()]
    assert found == [str(here), "-m", "odonata", *expected, "--point", "1", "--threads", "2"]
    assert not list(tmp_path.rglob("broken-out"))


def test_the_printed_command_is_one_comment_that_can_be_pasted(tmp_path: Path) -> None:
    lines = text(tmp_path).split("\n")
    begin = lines.index("set -euo pipefail")
    assert all(line.startswith("#") for line in lines[:begin])
    (command,) = [line.split("see: ", 1)[1] for line in lines if "see: " in line]
    recorder(tmp_path / "odonata")
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["bash"], input=command, text=True, env=path, cwd=tmp_path, check=True)
    found = json.loads((tmp_path / "odonata.json").read_text())
    assert found == [str(tmp_path), "sweep", "an experiment.toml", "-o", "my runs/50% 'of it'", *settings()]
    assert not list(tmp_path.rglob("broken-out"))


def test_slurm_reads_the_log_as_one_word_with_its_percent_signs_doubled(tmp_path: Path) -> None:
    (option,) = [line for line in text(tmp_path).splitlines() if "--output" in line]
    assert shlex.split(option.removeprefix("#SBATCH ")) == ["--output=my runs/50%% 'of it'/slurm-%a.log"]


def test_a_directory_with_a_line_break_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OdonataError, match="cannot name"):
        text(tmp_path, Path("runs\n#SBATCH --wrap=x"))


def test_a_refused_script_leaves_no_directory(odonata_command: Command, tmp_path: Path) -> None:
    text = '[machine]\npreset = "dragonfly-1056"\n[[job]]\npattern = "uniform"\nranks = 4\n'
    (tmp_path / "x.toml").write_text(text + '[sweep]\n"engine.seed" = [1, 2]\n')
    result = odonata_command("sweep", "x.toml", "--slurm", "-o", "two\nlines")
    assert result.returncode == 2, result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.toml"]
