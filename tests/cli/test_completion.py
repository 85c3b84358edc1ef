"""Shell completion, and warnings and errors of commands next to their results."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import rich.progress
from rich.console import Console
from running import Command

from odonata.cli.output import terminal

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
EXPERIMENT = MACHINE + '[[job]]\npattern = "uniform"\nranks = 4\nranks_per_node = 1\n'


def offered(odonata_command: Command, *words: str) -> list[str]:
    """What is offered for the last word, as bash asks for it: `kind,value` a line."""
    line = " ".join(["odonata", *words])
    environment = {"_ODONATA_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    return odonata_command(**environment).stdout.splitlines()


def test_presets_keys_files_and_runs_are_offered(odonata_command: Command) -> None:
    assert {"plain,edison", "plain,eos"} <= set(offered(odonata_command, "machine", "e"))
    assert offered(odonata_command, "machine", "./my") == ["file,./my"]
    assert offered(odonata_command, "run", "x.toml", "--set", "engine.see") == ["plain,engine.seed="]
    assert "plain,job.*.ranks=" in offered(odonata_command, "run", "x.toml", "--set", "job.")
    assert offered(odonata_command, "run", "exa") == ["file,exa"]
    # Runs are directories, which the shell completes.
    for words in (["show"], ["compare", "runs/a"], ["plot"], ["view"], ["explain"]):
        [one] = offered(odonata_command, *words, "runs/b")
        assert one in ("file,runs/b", "dir,runs/b"), words
    assert "plain,compare" in offered(odonata_command, "com")


def test_the_page_says_how_completion_is_switched_on() -> None:
    page = (Path(__file__).parents[2] / "docs" / "completion.md").read_text()
    for shell in ("bash", "zsh", "fish"):
        assert f"_ODONATA_COMPLETE={shell}_source odonata" in page


def test_a_run_says_that_it_does_not_sweep(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(EXPERIMENT + '[sweep]\n"engine.seed" = [1, 2]\n')
    result = odonata_command("run", "x.toml", "--set", "engine.slices=10")
    assert result.returncode == 0, result.stderr
    assert "[sweep] is ignored" in result.stderr
    assert "odonata sweep x.toml --set engine.slices=10" in result.stderr
    (tmp_path / "y.toml").write_text(EXPERIMENT)
    assert "is ignored" not in odonata_command("run", "y.toml").stderr


def test_mistakes_are_json_where_results_are(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(EXPERIMENT.replace("ranks =", "rank ="))
    result = odonata_command("run", "x.toml", "--json")
    assert result.returncode == 2
    found = json.loads(result.stdout)
    assert [problem["line"] for problem in found["problems"] if problem["kind"] == "unknown-key"] == [9]
    result = odonata_command("run", "nowhere.toml", "--json")
    assert result.returncode == 2
    assert json.loads(result.stdout)["error"]["message"] == "there is no file nowhere.toml"
    assert odonata_command("run", "nowhere.toml").stdout == ""


def test_bars_end_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for a solver, which reports steps relative to a limit and stops at an eighth of it."""
    seen = []

    class Bars(rich.progress.Progress):
        def __exit__(self, *of: object) -> None:
            seen.extend((task.description, task.percentage) for task in self.tasks)
            super().__exit__(*of)  # type: ignore[arg-type]

    monkeypatch.setattr(rich.progress, "Progress", Bars)
    monkeypatch.setattr(terminal, "error_console", lambda: Console(file=sys.stderr, force_terminal=True))
    with terminal.progress(quiet=False) as (report, _):
        assert report is not None
        report("building", 0.0)
        report("solving", 0.13)
    assert seen == [("building", 100), ("solving", 100)]
