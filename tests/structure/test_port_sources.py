"""Code that can open a port stands in few files, each with a test that its port asks for a key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

OPENS = {
    ".py": re.compile(
        r"^\s*(?:import|from) (?:http\.server|socketserver|xmlrpc|wsgiref|distributed|tornado)\b"
        r"|^\s*(?:import|from) multiprocessing\.(?:managers|connection)\b"
        r"|\bstart_server\(|\bcreate_server\(|\.listen\(",
        re.MULTILINE,
    ),
    ".rs": re.compile(r"\b(?:TcpListener|UdpSocket|UnixListener)\b"),
    ".c": re.compile(r"\b(?:listen|bind)\s*\("),
    ".h": re.compile(r"\b(?:listen|bind)\s*\("),
}

KNOWN = {
    # The viewer: a token in every address (tests/viewer/test_server.py).
    "python/odonata/viewer/server.py",
    # Dask: TLS with keys of this process (tests/cli/test_ports.py).
    "python/odonata/sweeps/cluster.py",
    "python/odonata/sweeps/private.py",
    # A client of the same, and what is done when its connections are closed.
    "python/odonata/sweeps/remote.py",
    "python/odonata/sweeps/tls.py",
}


def sources() -> list[Path]:
    found = []
    for folder in ("python", "crates", "vmpi"):
        found += [path for path in (ROOT / folder).rglob("*") if path.suffix in OPENS and path.is_file()]
    return [path for path in found if "build" not in path.relative_to(ROOT).parts]


def product(path: Path) -> str:
    """The text of a file, of a Rust file without its test module, which is the last thing in it."""
    return re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", path.read_text("utf-8"))[0]


def test_ports_are_opened_in_known_files_only() -> None:
    found = {str(path.relative_to(ROOT)) for path in sources() if OPENS[path.suffix].search(product(path))}
    assert found == KNOWN


@pytest.mark.parametrize(
    "text", ["from http.server import HTTPServer", "    import distributed", "s.listen()"]
)
def test_a_new_port_is_noticed(text: str) -> None:
    assert OPENS[".py"].search(text)
