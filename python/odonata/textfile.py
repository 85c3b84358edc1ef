"""Text files of other programs."""

from __future__ import annotations

from pathlib import Path

from odonata import _core
from odonata.errors import OdonataError


def read_text(path: str | Path, expected: str = "", *, hint: str | None = None) -> str:
    """The text of a file in UTF-8; `expected` says what it should hold.

    Raises:
        OdonataError: The file cannot be read, or is not text.
    """
    try:
        return _core.read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        wanted = f"; expected {expected}" if expected else ""
        raise OdonataError(f"{path} is not a text file{wanted}", hint=hint) from None


def read_lines(path: Path, expected: str) -> list[str]:
    """The lines of a text file or pipe.

    Raises:
        OdonataError: It cannot be read, or is not text; `expected` says what it should hold.
    """
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise OdonataError(f"{path} is not a text file; expected {expected}") from None
    except OSError as error:
        raise OdonataError(f"{path} cannot be read: {error.strerror}") from None
