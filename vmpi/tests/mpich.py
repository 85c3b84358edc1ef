#!/usr/bin/env python3
"""Run MPICH's own test suite on vmpi.

    python3 vmpi/tests/mpich.py WORK [FOLDER...]

Debian's source package of mpich (VERSION below) is fetched into WORK with apt-get and configured with vmpicc.
Each run of the folders' test lists is made as MPICH's runner makes it: it passes if it ends with status 0 and
prints "No Errors". WORK/results.csv has a line per run, WORK/output/ what each failure printed. Nothing of
the package is in this project. MPI-IO, spawn, threads, faults and partitioned communication are not among the
folders.
"""

import csv
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

VERSION = "4.0.2-3"
SUITE = "debian bookworm main"
FOLDERS = [
    "attr",
    "coll",
    "comm",
    "datatype",
    "errhan",
    "group",
    "info",
    "init",
    "perf",
    "pt2pt",
    "rma",
    "topo",
]
SECONDS_MAX = 120  # of a run; the suite's own limit is 180 s on real processes
BIN = Path(__file__).resolve().parent.parent / "bin"


def run(words: list[str], folder: Path, log: Path) -> None:
    """Runs a command that must succeed."""
    with log.open("w") as out:
        if subprocess.run(words, cwd=folder, stdout=out, stderr=subprocess.STDOUT, check=False).returncode:
            sys.exit(f"{shlex.join(words)} failed: see {log}")


def fetch(work: Path) -> Path:
    """The configured suite; fetched, unpacked and configured once."""
    suite = work / f"mpich-{VERSION.split('-')[0]}" / "test" / "mpi"
    if (suite / "config.status").exists():
        return suite
    work.mkdir(parents=True, exist_ok=True)
    (work / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org")
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    archive, release, part = SUITE.split()
    (work / "sources.list").write_text(f"deb-src [signed-by={keys}] {mirror}/{archive} {release} {part}\n")
    options = [f"Dir::Etc::SourceList={work}/sources.list", "Dir::Etc::SourceParts=/dev/null"]
    options += [f"Dir::State::Lists={work}/lists", f"Dir::Cache={work}/cache"]
    apt = ["apt-get"] + [word for option in options for word in ("-o", option)]
    run([*apt, "update"], work, work / "update.log")
    run([*apt, "source", "--download-only", f"mpich={VERSION}"], work, work / "source.log")
    tar = next(work.glob("mpich_*.orig.tar.*"))
    run(["tar", "xf", str(tar), str(suite.relative_to(work))], work, work / "tar.log")
    compiler = BIN / "vmpicc"
    off = [f"--disable-{what}" for what in ("fortran", "cxx", "spawn", "ft-tests")]
    run(["./configure", f"CC={compiler}", f"MPICC={compiler}", *off], suite, work / "configure.log")
    return suite


def list_runs(folder: Path) -> list[dict]:
    """The runs of a folder: program, ranks, arguments, environment, limit."""
    runs = []
    for line in (folder / "testlist").read_text().splitlines():
        words = line.split("#")[0].split()
        if len(words) < 2 or not words[1].isdigit():
            continue
        entry = {
            "program": words[0],
            "ranks": int(words[1]),
            "arguments": [],
            "environment": {},
            "test": "",
            "seconds": 0,
        }
        for word in words[2:]:
            key, _, value = word.partition("=")
            if key == "arg":
                entry["arguments"].append(value)
            elif key == "env":
                name, _, value = value.partition("=")
                entry["environment"][name] = value
            elif key == "timeLimit":
                entry["seconds"] = int(value)
            elif key == "resultTest":
                entry["test"] = value
        runs.append(entry)
    return runs


def build(folder: Path, program: str, log: Path) -> bool:
    """Whether a program of the suite compiles."""
    words = ["make", "-C", str(folder), program]
    with log.open("w") as out:
        return subprocess.run(words, stdout=out, stderr=subprocess.STDOUT, check=False).returncode == 0


def classify(status: int | None, output: str, test: str) -> str:
    """Pass, or the kind of failure."""
    if status is None:
        return "pass" if test == "TestErrFatal" else "hang"
    if test == "TestStatus":
        expected = status != 0
    elif test == "TestErrFatal":
        expected = status != 0 and "No Errors" not in output
    else:
        expected = status == 0 and bool(re.search(r"^\s*No [Ee]rrors\s*$", output, re.MULTILINE))
    if status < 0 or status > 128 or "SIGSEGV" in output:
        return "signal"
    if expected:
        return "pass"
    for kind, text in (
        ("missing", "vmpi does not support"),
        ("deadlock", "vmpi: deadlock"),
        ("refused", "vmpi: "),
    ):
        if text in output:
            return kind
    return "wrong"


def execute(folder: Path, entry: dict, name: str, work: Path) -> str:
    """Runs a program; the kind of its end."""
    words = [
        str(BIN / "vmpirun"),
        "-dims",
        "mpich",
        "-n",
        str(entry["ranks"]),
        f"./{entry['program']}",
        *entry["arguments"],
    ]
    environment = os.environ | entry["environment"]
    log = work / "output" / f"{name}.txt"
    # A run that must be ended by the runner has its own limit.
    limit = entry["seconds"] if entry["test"] == "TestErrFatal" and entry["seconds"] else SECONDS_MAX
    with log.open("w") as out:
        try:
            done = subprocess.run(
                ["timeout", "-k", "5", str(limit), *words],
                cwd=folder,
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=environment,
                check=False,
            )
            status = None if done.returncode in (124, 137) else done.returncode
        except OSError as error:
            out.write(str(error))
            status = 126
    result = classify(status, log.read_text(errors="replace"), entry["test"])
    if result == "pass":
        log.unlink()
    return result


def main() -> None:
    """Runs the suite and prints a line per folder."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    work, folders = Path(sys.argv[1]).resolve(), sys.argv[2:] or FOLDERS
    suite = fetch(work)
    (work / "output").mkdir(exist_ok=True)
    rows = []
    for library in ("dtpools", "util"):
        run(["make", "-C", str(suite / library)], suite, work / f"{library}.log")
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for name in folders:
            folder, runs = suite / name, list_runs(suite / name)
            programs = sorted({entry["program"] for entry in runs})
            for program in programs:
                (folder / program).unlink(missing_ok=True)
            logs = [work / "output" / f"{name}-{program}-build.txt" for program in programs]
            built = dict(
                zip(programs, pool.map(build, [folder] * len(programs), programs, logs), strict=True)
            )
            names = [f"{name}-{i}-{entry['program']}-{entry['ranks']}" for i, entry in enumerate(runs)]

            def one(entry: dict, label: str, folder: Path = folder, built: dict = built) -> str:
                return execute(folder, entry, label, work) if built[entry["program"]] else "not built"

            results = list(pool.map(one, runs, names))
            rows += [(name, label, result) for label, result in zip(names, results, strict=True)]
            count = Counter(results)
            failed = dict(count - Counter(**{"pass": count["pass"]}))
            sys.stdout.write(f"{name:10}{len(runs):5} runs{count['pass']:5} pass {failed}\n")
            sys.stdout.flush()
    with (work / "results.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("folder", "run", "result"), *rows])
    count = Counter(result for _, _, result in rows)
    share = 100 * count["pass"] / len(rows)
    sys.stdout.write(f"{'all':10}{len(rows):5} runs{count['pass']:5} pass {dict(count)}, {share:.1f} %\n")


if __name__ == "__main__":
    main()
