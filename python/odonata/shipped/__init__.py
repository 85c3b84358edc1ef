"""Examples and studies that come with the package, and their copies.

The folders here are links to folders of the repository. A wheel contains their files.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from odonata.errors import OdonataError, nearest
from odonata.files import read_text

HERE = Path(__file__).parent
EXAMPLES, STUDIES = HERE / "examples", HERE / "studies"

_FILE_NAME = re.compile(r'"([^"\s]+)"')


@dataclass(frozen=True)
class Example:
    """An experiment file, the folder of a study, or a folder of traces."""

    name: str
    kind: str
    """`example`, `study` or `traces`."""
    summary: str
    path: Path


def examples() -> list[Example]:
    """All examples and studies, by name.

    Examples:
        >>> [example.name for example in odonata.shipped.examples()][:2]
        ['amg-cycle-eos', 'amg-exchange-eos']
    """
    files = [Example(path.stem, "example", _summary(path), path) for path in sorted(EXAMPLES.glob("*.toml"))]
    folders = [
        Example(path.parent.name, "study", _title(path), path.parent)
        for path in sorted(STUDIES.glob("*/study.toml"))
    ]
    traces = "Small traces of a program on virtual ranks, of a DUMPI set and of a training step (Chakra)"
    return [*files, Example("traces", "traces", traces, EXAMPLES / "traces"), *folders]


def find(name: str) -> Example:
    """The example or study with this name; a path such as `examples/wd1-edison.toml` is a name, too.

    Raises:
        OdonataError: There is none.
    """
    wanted = Path(name).name.removesuffix(".toml")
    known = {example.name: example for example in examples()}
    if wanted not in known:
        hint = nearest(wanted, known, f"Examples and studies: {', '.join(known)}.")
        raise OdonataError(f"unknown example {name}", hint=hint)
    return known[wanted]


def copy(example: Example, directory: Path) -> list[Path]:
    """Copies an example with the files that it names, or a study's folder, and returns the new paths.

    Raises:
        OdonataError: One of them exists.
    """
    sources = [example.path] if example.path.is_dir() else [example.path, *_named_files(example.path)]
    targets = [directory / source.relative_to(example.path.parent) for source in sources]
    for target in targets:
        if target.exists():
            raise OdonataError(
                f"{target} exists and is not overwritten", hint="Choose another directory with -o."
            )
    for source, target in zip(sources, targets, strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, target)
    return targets


def _named_files(path: Path) -> list[Path]:
    """Files and folders next to an example that its text names, such as programs and traces."""
    text = read_text(path, "an example")
    neighbors = {part.name: part for part in path.parent.iterdir() if part.name != path.name}
    words = [word for word in _FILE_NAME.findall(text) if not word.startswith(("/", "."))]
    tops = dict.fromkeys(Path(word).parts[0] for word in words if "/" in word or "." in word)
    return [neighbors[top] for top in tops if top in neighbors]


def _summary(path: Path) -> str:
    """The first sentence of the comment at the top."""
    lines = []
    for line in read_text(path, "an example").splitlines():
        if not line.startswith("#") or not line.strip("# "):
            break
        lines.append(line.strip("# "))
    return re.split(r"(?<!et al)\. ", " ".join(lines))[0].rstrip(".")


def _title(path: Path) -> str:
    """The title of a study."""
    for line in read_text(path, "an example").splitlines():
        if line.startswith("title"):
            return line.partition("=")[2].strip().strip('"')
    return ""
