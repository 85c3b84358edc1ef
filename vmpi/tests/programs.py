"""Programs of others, unchanged, on virtual ranks and on processes of Open MPI.

    python3 vmpi/tests/programs.py BUILD SOURCES [NAME...]

SOURCES has their sources as published, in folders `quicksilver`, `snap`, `nekbone`, `osu` (7.4) and `imb`;
what is not there is skipped. Each is built twice, in BUILD. The lines that they print are the same, but for
their order and for what the filters blank: times and rates. If the command `odonata` is there, it replays
their traces.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

BIN = Path(__file__).resolve().parents[1] / "bin"
# Without the variables of the make that runs this: SOURCES is also one of Quicksilver's makefile.
OUTER = ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in OUTER}
ENVIRONMENT["PATH"] = f"{BIN}:{os.environ['PATH']}"
COMPILERS = {
    "vmpi": {"c": "vmpicc", "c++": "vmpicxx", "fortran": "vmpif90"},
    "openmpi": {"c": "mpicc", "c++": "mpicxx", "fortran": "mpif90"},
}
NUMBER = r"\d+\.\d+(?:[eE][-+]?\d+)?"
IMB_OPTIONS = "-msglog 12 -iter 5 -iter_policy off -time 1"
REPLAY = """
[machine]
preset = "dragonfly-1056"
[[job]]
name = "program"
ranks = "trace"
program = {{ name = "trace", path = "{trace}" }}
[engine]
kind = "packet"
routing = "min"
"""


@dataclass(frozen=True)
class Run:
    """A run of a program: in a folder of its build, on so many ranks; `result` is a file that it writes."""

    name: str
    folder: str
    command: list[str]
    times: str
    ranks: int = 8
    result: str | None = None


def make(folder: Path, *arguments: str) -> None:
    subprocess.run(["make", "-s", *arguments], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)


def quicksilver(folder: Path, compilers: dict[str, str]) -> Iterator[Run]:
    flags = ["CXXFLAGS=-O2 -DHAVE_MPI -w", "CPPFLAGS=", "LDFLAGS="]
    make(folder / "src", f"CXX={compilers['c++']}", *flags)
    for case in ("AllEscape/allEscape", "AllAbsorb/allAbsorb", "NoCollisions/no.collisions"):
        sizes = "-n 4000 -N 3 -I 2 -J 2 -K 2 -x 10 -y 10 -z 10"
        command = ["./qs", "-i", f"../Examples/{case}.inp", *sizes.split()]
        # The last three columns of a cycle, and the table of timers.
        times = r"(?m)(?<=\d)(?: +\d\.\d{6}e[-+]\d\d){3}$|^(?:Timer|main|cycle|Figure|\d.*Segments).*"
        yield Run(f"Quicksilver {case}", "src", command, times)


def snap(folder: Path, compilers: dict[str, str]) -> Iterator[Run]:
    make(folder / "src", f"FORTRAN={compilers['fortran']}", "OPENMP=no")
    for case in ("sample/inp", "center_src/in05", "center_src/in14", "mms_src/3d_mms_st.inp"):
        text = (folder / "qasnap" / case).read_text()
        for key, value in (("npey", 2), ("npez", 4), ("nthreads", 1)):
            text = re.sub(rf"\b{key}=\d+", f"{key}={value}", text)
        (folder / "input").write_text(re.sub(r"(?m)^( *)nz=6$", r"\1nz=8", text))
        times = r"(?m)Ran on .*|\d\.\d{4}E[-+]\d\d(?=\s*$)"
        yield Run(f"SNAP {case}", ".", ["src/gsnap", "input", "output"], times, result="output")


def nekbone(folder: Path, compilers: dict[str, str]) -> Iterator[Run]:
    example = folder / "test" / "example1"
    script = (example / "makenek").read_text()
    settings = {
        "SOURCE_ROOT": folder / "src",
        "F77": f"{compilers['fortran']} -std=legacy -fallow-argument-mismatch",
        "CC": compilers["c"],
    }
    for key, value in settings.items():
        script = re.sub(rf"(?m)^{key}=.*", f'{key}="{value}"', script)
    (example / "makenek").write_text(script)
    command = ["bash", "./makenek", "ex1"]
    subprocess.run(
        command, cwd=example, env=ENVIRONMENT, check=True, capture_output=True, input="", text=True
    )
    lines = (example / "data.rea").read_text().splitlines(keepends=True)
    (example / "data.rea").write_text(
        "".join([lines[0], "1 8 3 = elements\n", "8 10 2 = order\n", *lines[3:]])
    )
    # Times choose the method. The residual after 100 iterations is below rounding: the order of sums decides.
    times = r"(?:times|router|reduce|method|MFlops|Time).*|cg: 101 .*"
    yield Run("Nekbone example1", "test/example1", ["./nekbone", "ex1"], times)


def osu_options(kind: str, name: str) -> list[str]:
    """Few and small messages; with validation of the data where the program has it."""
    if kind == "startup":
        return []
    sizes = [] if "barrier" in name else ["-m", "1:4096"]
    validates = sizes and kind in ("collective", "pt2pt") and not re.search("latency_mp|fan", name)
    return ["-i", "10", "-x", "2", *sizes, *(["-c"] if validates else [])]


def osu(folder: Path, compilers: dict[str, str]) -> Iterator[Run]:
    configure = ["sh", "configure", f"CC={compilers['c']}", f"CXX={compilers['c++']}", "CFLAGS=-O1"]
    subprocess.run(configure, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    make(folder / "c")
    programs = folder / "c" / "mpi"
    for path in sorted(programs.rglob("osu_*")):
        name, kind = path.name, path.relative_to(programs).parts[0]
        # osu_latency_mt needs MPI_THREAD_MULTIPLE.
        if path.suffix or ".libs" in path.parts or name == "osu_latency_mt":
            continue
        pair = kind == "one-sided" or (kind == "pt2pt" and not re.search("mbw|multi", name))
        command = [str(path.relative_to(folder)), *osu_options(kind, name)]
        yield Run(f"OSU {name}", ".", command, rf"{NUMBER}|\d+ ms", ranks=2 if pair else 8)


def imb(folder: Path, compilers: dict[str, str]) -> Iterator[Run]:
    for part in ("MPI1", "NBC", "RMA", "EXT"):
        flags = ["CPPFLAGS=-DCHECK", "CXXFLAGS=-O1 -w", "CFLAGS=-O1 -w"]
        make(folder / "src_cpp", f"TARGET={part}", f"CC={compilers['c']}", f"CXX={compilers['c++']}", *flags)
        command = [f"src_cpp/IMB-{part}", *IMB_OPTIONS.split()]
        yield Run(f"IMB-{part}", ".", command, rf"{NUMBER}|# Date.*")


PROGRAMS: dict[str, Callable[[Path, dict[str, str]], Iterator[Run]]] = {
    "quicksilver": quicksilver,
    "snap": snap,
    "nekbone": nekbone,
    "osu": osu,
    "imb": imb,
}


def lines_of(run: Run, folder: Path, start: list[str]) -> tuple[int, list[str]]:
    """Status and lines of a run, without times, in alphabetical order."""
    command = [*start, *run.command]
    where = folder / run.folder
    done = subprocess.run(
        command, cwd=where, env=ENVIRONMENT, capture_output=True, text=True, timeout=900, input=""
    )
    text = (where / run.result).read_text() if run.result else done.stdout
    blanked = re.sub(run.times, "T", text)
    return done.returncode, sorted(" ".join(line.split()) for line in blanked.splitlines())


def replay(trace: Path) -> str | None:
    """What went wrong in a replay of the trace; None: nothing."""
    experiment = trace.with_suffix(".toml")
    experiment.write_text(REPLAY.format(trace=trace))
    command = ["odonata", "run", "--quiet", "--force", str(experiment), "-o", str(trace.with_suffix(""))]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr[-500:] if done.returncode else None


def compare(ours: Run, theirs: Run, folders: dict[str, Path], trace: Path) -> bool:
    start = [str(BIN / "vmpirun"), "-n", str(ours.ranks), "-trace", str(trace)]
    open_mpi = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(theirs.ranks)]
    status, lines = lines_of(ours, folders["vmpi"], start)
    expected, expected_lines = lines_of(theirs, folders["openmpi"], open_mpi)
    wrong = list(unified_diff(expected_lines, lines, "Open MPI", "vmpi", n=0, lineterm=""))
    if expected != 0 and status == 0:
        print("ok  ", ours.name, f"status 0; with Open MPI {expected}", flush=True)
        return True
    if status != expected:
        wrong.insert(0, f"status {status}, with Open MPI {expected}")
    if not wrong and status == 0 and shutil.which("odonata"):
        failed = replay(trace)
        wrong += [f"replay: {failed}"] if failed else []
    print("FAIL" if wrong else "ok  ", ours.name, f"status {status}, {len(lines)} lines", flush=True)
    print(*(f"     {line}" for line in wrong[:8]), sep="\n", end="\n" if wrong else "", flush=True)
    return not wrong


def main() -> int:
    build, sources, *names = sys.argv[1:]
    failures = 0
    for name in names or PROGRAMS:
        source = Path(sources) / name
        if not source.is_dir():
            print(f"skip {name}: {source} is not there")
            continue
        folders = {mpi: Path(build).resolve() / f"{mpi}-{name}" for mpi in COMPILERS}
        for folder in folders.values():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, folder)
        runs = [PROGRAMS[name](folders[mpi], COMPILERS[mpi]) for mpi in COMPILERS]
        for ours, theirs in zip(*runs, strict=True):
            failures += not compare(ours, theirs, folders, Path(build).resolve() / "program.trace")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
