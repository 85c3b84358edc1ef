"""Output of a run with many jobs fits a screen."""

from __future__ import annotations

from pathlib import Path

from running import Command

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
JOB = (
    '[[job]]\nname = "j{0}"\nranks = 2\nranks_per_node = 1\n'
    'pattern = {{ name = "all-to-all", bytes = "{1} kB" }}\n'
)


def test_the_slowest_of_many_jobs_are_listed(odonata_command: Command, tmp_path: Path) -> None:
    """Job k has k + 1 times the bytes of the first, so the last is the slowest."""
    jobs = "".join(JOB.format(k, 100 * (k + 1)) for k in range(30))
    (tmp_path / "x.toml").write_text(f'{MACHINE}{jobs}[engine]\nkind = "flow"\nrouting = "min"\n')
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 0, result.stderr
    for command in ("show", "explain"):
        short = odonata_command(command, "run").stdout
        assert f"The slowest 20 jobs; 10 more: odonata {command} --details" in short
        assert {"j29", "j10"} <= set(short.split())
        assert "j9" not in short.split()
        every = odonata_command(command, "run", "--details").stdout
        assert "--details" not in every
        assert {f"j{k}" for k in range(30)} <= set(every.split())
