"""Figures, engines and viewer take the colours of categories from one file."""

from pathlib import Path

from odonata.colors import OKABE_ITO

ROOT = Path(__file__).parents[2]
SOURCES = {"python": (".py",), "crates": (".rs",), "viewer/src": (".ts", ".tsx", ".css")}
# An example in messages.
EXAMPLES = {"crates/declare/src/key.rs"}


def test_no_source_repeats_a_colour() -> None:
    sources = [
        path.relative_to(ROOT)
        for folder, endings in SOURCES.items()
        for path in (ROOT / folder).rglob("*")
        if path.suffix in endings and "tests" not in path.parts and "static" not in path.parts
    ]
    assert len(sources) > 500
    texts = {str(path): (ROOT / path).read_text().lower() for path in sources}
    assert {path for path, text in texts.items() if any(color in text for color in OKABE_ITO)} == EXAMPLES
