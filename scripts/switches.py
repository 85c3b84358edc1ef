"""Plants all mutants of a sample at once: a copy of the workspace in which each one has a switch.

A function that has mutants gets a copy of its body for each. The variable `MUTANT` chooses the copy, so one
build serves all mutants. The list of cargo-mutants says what replaces which text.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SWITCH = """
/// Whether mutant `number` is switched on.
#[allow(dead_code, missing_docs)]
pub(crate) fn is_planted(number: usize) -> bool {
    static ON: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *ON.get_or_init(|| std::env::var("MUTANT").map_or(0, |word| word.parse().expect("a number"))) == number
}
"""

ROUNDS = 40
"""So often are mutants taken out that do not compile. A round finds them in one more layer of crates."""


@dataclass
class Body:
    """A function with mutants: where its body starts and ends in the text, and its copies by number."""

    start: int
    end: int
    copies: dict[int, str] = field(default_factory=dict)


@dataclass
class Workspace:
    """The copy: its folder, where it is built, and the mutants with a switch by number."""

    tree: Path
    build: Path
    mutants: dict[int, Mapping[str, object]] = field(default_factory=dict)
    lines: dict[str, dict[int, tuple[int, int]]] = field(default_factory=dict)
    """By file: the lines in which the copy of a mutant stands."""

    def copy(self, root: Path) -> None:
        """Brings what git tracks here. Equal files stay untouched, so that cargo builds only what differs."""
        names = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
        for name in filter(None, names.decode().split("\0")):
            source, target = root / name, self.tree / name
            if source.is_symlink():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.unlink(missing_ok=True)
                target.symlink_to(source.readlink())
            elif source.is_file():
                write(target, source.read_bytes())
                target.chmod(source.stat().st_mode)

    def plant(self, root: Path, numbers: Mapping[int, Mapping[str, object]]) -> None:
        """Writes the mutants' files with switches, and the others as they are."""
        self.mutants, self.lines = dict(numbers), {}
        files = sorted({str(mutant["file"]) for mutant in numbers.values()} | self.planted_before())
        for name in files:
            here = {number: mutant for number, mutant in numbers.items() if mutant["file"] == name}
            text = (root / name).read_text()
            planted, self.lines[name] = with_switches(text, here)
            if re.fullmatch(r"crates/\w+/src/lib\.rs", name):
                planted += SWITCH
            write(self.tree / name, planted.encode())
        (self.tree / "planted.txt").write_text("\n".join(files))

    def planted_before(self) -> set[str]:
        roots = {str(path.relative_to(self.tree)) for path in self.tree.glob("crates/*/src/lib.rs")}
        before = self.tree / "planted.txt"
        return roots | set(before.read_text().split() if before.exists() else ())

    def programs(self, root: Path, crates: list[str]) -> dict[str, list[Path]]:
        """Builds the test programs of each crate; takes out mutants that do not compile."""
        for _ in range(ROUNDS):
            built, broken, other = self.cargo(crates)
            if built is not None:
                return built
            if not broken:
                sys.exit("error: the copy with switches does not compile\n" + "\n".join(other))
            print(f"  {len(broken)} mutants do not compile")
            self.plant(root, {n: mutant for n, mutant in self.mutants.items() if n not in broken})
        sys.exit(f"error: mutants that do not compile are left after {ROUNDS} rounds")

    def cargo(self, crates: list[str]) -> tuple[dict[str, list[Path]] | None, set[int], list[str]]:
        packages = [word for crate in crates for word in ("-p", f"odonata-{crate}")]
        environment = {**os.environ, "CARGO_TARGET_DIR": str(self.build), "CARGO_PROFILE_DEV_DEBUG": "0"}
        command = ["cargo", "test", "--no-run", "--no-fail-fast", "--lib", "--tests", "--quiet", *packages]
        command += ["--message-format", "json", *os.environ.get("CARGO_FLAGS", "").split()]
        done = subprocess.run(command, cwd=self.tree, env=environment, stdout=subprocess.PIPE, text=True)
        messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        errors = [m["message"] for m in messages if m.get("message", {}).get("level") == "error"]
        if done.returncode == 0:
            built: dict[str, list[Path]] = {crate: [] for crate in crates}
            for message in messages:
                if message["reason"] == "compiler-artifact" and message.get("executable"):
                    crate = Path(message["manifest_path"]).parent.name
                    if crate in built and message["profile"]["test"]:
                        built[crate].append(Path(message["executable"]))
            return built, set(), []
        broken = {number for error in errors for number in self.guilty(error)}
        return None, broken, [str(error.get("rendered", "")) for error in errors]

    def guilty(self, error: Mapping[str, object]) -> set[int]:
        """The mutants in whose lines an error stands, else of lines that it mentions.

        Copies of a function that returns an `impl` have types of their own: the error stands in the original,
        and mentions the copy. Else all of the files that it touches.
        """
        spans = [span for span in error["spans"] if span["file_name"] in self.lines]  # type: ignore[attr-defined]

        def within(line: Mapping[str, object]) -> set[int]:
            of_file = self.lines[str(line["file_name"])]
            return {n for n, (first, last) in of_file.items() if first <= line["line_start"] <= last}  # type: ignore[operator]

        primary = [within(span) for span in spans if span["is_primary"]]
        found = set().union(*primary) or set().union(*map(within, spans))
        return found or {number for span in spans for number in self.lines[span["file_name"]]}


def write(path: Path, data: bytes) -> None:
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def with_switches(
    text: str, mutants: Mapping[int, Mapping[str, object]]
) -> tuple[str, dict[int, tuple[int, int]]]:
    """The text with a switch for each mutant, and the lines of each mutant's copy."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(at: Mapping[str, int]) -> int:
        return starts[at["line"] - 1] + at["column"] - 1

    def span(of: Mapping[str, Mapping[str, int]]) -> tuple[int, int]:
        return place(of["start"]), place(of["end"])

    bodies: list[Body] = []
    functions = [span(mutant["function"]["span"]) for mutant in mutants.values()]  # type: ignore[index]
    for number, mutant in mutants.items():
        start, end = span(mutant["span"])  # type: ignore[arg-type]
        # A function within a function is copied with the outer one.
        outer = min(function for function in functions if function[0] <= start and end <= function[1])
        body = next((body for body in bodies if body.end == outer[1]), None)
        if body is None:
            body = Body(body_start(text, *outer), outer[1])
            bodies.append(body)
        body.copies[number] = text[body.start : start] + str(mutant["replacement"]) + text[end : body.end]
    lines: dict[int, tuple[int, int]] = {}
    pieces: list[str] = []
    line = 1
    for piece, number in parts(text, bodies):
        if number is not None:
            # The line after it belongs to the next switch.
            lines[number] = (line, line + piece.count("\n") - 1)
        pieces.append(piece)
        line += piece.count("\n")
    return "".join(pieces), lines


def parts(text: str, bodies: list[Body]) -> Iterator[tuple[str, int | None]]:
    at = 0
    for body in sorted(bodies, key=lambda body: body.start):
        yield text[at : body.start] + "{", None
        for number, copy in body.copies.items():
            yield f" if crate::is_planted({number}) {copy}\n else", number
        yield text[body.start : body.end] + "}", None
        at = body.end
    yield text[at:], None


def body_start(text: str, start: int, end: int) -> int:
    """Where the brace of a function's body opens: the first one outside of brackets after its name."""
    name = re.search(r"^(?!\s*//).*?\bfn\s+\w+", text[start:end], re.MULTILINE)
    assert name is not None, text[start:end]
    depth = 0
    for at in range(start + name.end(), end):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[at], 0)
        if text[at] == "{" and depth == 0:
            return at
    raise AssertionError(text[start:end])
