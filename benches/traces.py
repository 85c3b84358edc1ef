"""Reading traces: `make bench-traces`, or `python benches/traces.py [--write]`; needs ODONATA_SHARED.

It measures the processor time of `odonata trace convert` for each binary format, and of `trace show` for the
trace file. The shared files are small, so the records of one are repeated: a million or more per format.
Each row is the best of three runs, because other load only adds time. `--write` saves the results in
`benches/results/traces.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from measuring import machine, write

BAR = 10  # million records per minute and core


def dumpi(shared: Path, to: Path, copies: int) -> Path:
    """Repeats the records of each rank before the header, and moves the index."""
    source = shared / "dumpi/sst-dumpi/tests/traces"
    for file in source.glob("testtrace*.bin"):
        data = file.read_bytes()
        index = struct.unpack(">7Q", data[-56:])
        header, body = index[3], index[4]
        first, end = body + 8, header - 2  # the base of times, the mark of the end
        added = (copies - 1) * (end - first)
        moved = (place + added if place > body else place for place in index)
        large = data[:first] + data[first:end] * copies + data[end:-56] + struct.pack(">7Q", *moved)
        (to / file.name).write_bytes(large)
    shutil.copy(source / "testtrace.meta", to / "testtrace.meta")
    return to / "testtrace.meta"


def goal(shared: Path, to: Path, copies: int) -> Path:
    """Repeats the nodes of each rank, with other sizes in each copy; dependencies stay within a copy."""
    data = (shared / "goal/generated/allreduce_recdoub_16_65536.bin").read_bytes()
    node = struct.Struct("<IbIQIBBIIII")
    ranks = struct.unpack_from("<I", data, 8)[0]
    parts = []
    for rank in range(ranks):
        start, end = struct.unpack_from("<QQ", data, 14 + 16 * rank)
        nodes, roots = struct.unpack_from("<II", data, start + 8)
        first = start + 16
        root = struct.unpack_from(f"<{roots}I", data, first)
        first += 4 * roots
        fields = list(node.iter_unpack(data[first : first + nodes * node.size]))
        first += nodes * node.size
        after = struct.unpack_from(f"<{(end + 8 - first) // 4}I", data, first)
        random = Random(1)  # the same sizes on all ranks
        part = [struct.pack("<II", nodes * copies, roots * copies)]
        part += [struct.pack(f"<{roots}I", *(at + copy * nodes for at in root)) for copy in range(copies)]
        for copy in range(copies):
            moved = copy * len(after)
            more = random.randrange(2**16)
            part += [
                node.pack(*of[:3], of[3] + more, *of[4:8], of[8] + moved, of[9], of[10] + moved)
                for of in fields
            ]
        part += [
            struct.pack(f"<{len(after)}I", *(at + copy * nodes for at in after)) for copy in range(copies)
        ]
        parts.append(b"".join(part))
    offsets, at = b"", 6 + 16 * ranks
    for bytes_ in parts:
        offsets += struct.pack("<QQ", at, at + len(bytes_))
        at += len(bytes_)
    (to / "large.bin").write_bytes(data[:14] + offsets + b"".join(parts))
    return to / "large.bin"


def otf2(shared: Path, to: Path, copies: int) -> Path:
    """Repeats the events of each location in chunks of 1 MiB, with other computation times in each copy."""
    source = shared / "otf2/sst-macro/tests/otf2_test_traces"
    shutil.copytree(source, to, dirs_exist_ok=True, copy_function=shutil.copyfile)
    single = {12, 13, 16, 17, 20, 21, 24, 28, 29, 30}
    files = {file: file.read_bytes() for file in source.glob("traces/*.evt")}
    times: dict[Path, list[int]] = {}
    ends: dict[Path, int] = {}
    for file, data in files.items():
        at, places = 18, []
        while data[at] not in (0, 1, 2):
            if data[at] == 5:
                places.append(at + 1)
                at += 9
            else:
                at += 2 + (data[at + 1] if data[at] not in single or data[at + 1] < 255 else 0)
        times[file], ends[file] = [place - 18 for place in places], at
    ticks = [struct.unpack_from("<Q", files[file], 18 + place)[0] for file in files for place in times[file]]
    begin, length = min(ticks), max(ticks) - min(ticks) + 1
    random = Random(1)
    for file, data in files.items():
        events, head = data[18 : ends[file]], data[:18]
        room = (2**20 - 19) // len(events)
        chunks = []
        for first in range(0, copies, room):
            chunk = bytearray(head)
            for copy in range(first, min(first + room, copies)):
                here, stretch = bytearray(events), random.random()
                for place in times[file]:
                    time = struct.unpack_from("<Q", events, place)[0]
                    struct.pack_into("<Q", here, place, begin + int((time - begin) * stretch) + copy * length)
                chunk += here
            is_last = first + room >= copies
            chunks.append(bytes(chunk) + data[ends[file] :] if is_last else bytes(chunk).ljust(2**20, b"\0"))
        target = to / "traces" / file.name
        target.unlink()
        target.write_bytes(b"".join(chunks))
    return to / "traces.otf2"


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def as_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def protobuf(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The fields of a message: number, wire type, value."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            number, at = varint(data, at)
            yield key >> 3, 0, number
            continue
        length = {1: 8, 5: 4}.get(key & 7, 0)
        if key & 7 == 2:
            length, at = varint(data, at)
        yield key >> 3, key & 7, data[at : at + length]
        at += length


def moved_node(node: list[tuple[int, int, int | bytes]], by: int) -> bytes:
    """A node with its number (field 1) and dependencies (4 and 5) moved."""
    out = b""
    for number, wire, value in node:
        out += as_varint(number << 3 | wire)
        if isinstance(value, int):
            out += as_varint(value + by if number in (1, 4, 5) else value)
            continue
        if number in (4, 5):
            at, list_ = 0, b""
            while at < len(value):
                one, at = varint(value, at)
                list_ += as_varint(one + by)
            value = list_
        out += (as_varint(len(value)) if wire == 2 else b"") + value
    return as_varint(len(out)) + out


def chakra(shared: Path, to: Path, copies: int) -> Path:
    """Repeats the nodes of each rank; dependencies stay within a copy."""
    for file in (shared / "chakra/stg-generated/dense8").glob("workload.*.et"):
        data, at, messages = file.read_bytes(), 0, []
        while at < len(data):
            length, at = varint(data, at)
            messages.append(data[at : at + length])
            at += length
        nodes = [list(protobuf(message)) for message in messages[1:]]
        step = 1 + max(int(value) for node in nodes for number, _, value in node if number == 1)
        start = as_varint(len(messages[0])) + messages[0]
        all_ = (moved_node(node, copy * step) for copy in range(copies) for node in nodes)
        (to / file.name).write_bytes(start + b"".join(all_))
    shutil.copyfile(shared / "chakra/stg-generated/dense8/workload.json", to / "workload.json")
    return to / "workload.0.et"


FORMATS: dict[str, tuple[Callable[[Path, Path, int], Path], int]] = {
    "DUMPI": (dumpi, 40_000),
    "GOAL, binary": (goal, 8_000),
    "OTF2": (otf2, 100),
    "Chakra ET": (chakra, 400),
}


def cpu_seconds(command: list[str]) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def measure(command: list[str], runs: int = 3) -> tuple[float, str]:
    return min(cpu_seconds(command) for _ in range(runs))


def row(name: str, size: int, records: int, seconds: float) -> str:
    rate = records / seconds * 60 / 1e6
    met = "yes" if rate >= BAR else "no"
    return f"| {name} | {size / 1e3:,.0f} | {records:,} | {seconds:.2f} | {rate:.0f} | {met} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how fast traces are read.")
    parser.add_argument("--write", action="store_true", help="save the results")
    options = parser.parse_args()
    shared = Path(os.environ["ODONATA_SHARED"]) / "data/traces"
    lines = [
        f"Machine: {machine()}. Command: `python benches/traces.py --write`.",
        "",
        "Processor time of `odonata trace convert`, best of three. The bar is",
        f"{BAR} million records per minute and core. Records are counted in the converted trace. The records",
        "of a small shared file are repeated, so trace files are smaller than for real traces, and",
        "cost less to decompress. Sizes (GOAL) and computation times (OTF2) differ from copy to copy.",
        "",
        "| input | kB | records | CPU s | million records per minute and core | meets the bar |",
        "|---|---|---|---|---|---|",
    ]
    for name, (make, copies) in FORMATS.items():
        with tempfile.TemporaryDirectory() as folder:
            to = Path(folder)
            path, out = make(shared, to, copies), to / "out.odt"
            size = sum(file.stat().st_size for file in to.rglob("*") if file.is_file())
            seconds, found = measure(["odonata", "trace", "convert", str(path), "-o", str(out), "--json"])
            records = int(json.loads(found)["records"])
            lines.append(row(name, size, records, seconds))
            print(lines[-1])
            seconds, _ = measure(["odonata", "trace", "show", str(out)])
            lines.append(row(f"trace file of {name} (`trace show`)", out.stat().st_size, records, seconds))
            print(lines[-1])
    if options.write:
        write("traces", "Reading traces", lines)


if __name__ == "__main__":
    main()
