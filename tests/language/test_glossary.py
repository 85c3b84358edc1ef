"""The glossary is the vocabulary's page."""

from words import glossary


def test_the_glossary_is_up_to_date() -> None:
    assert glossary.PAGE.read_text() == glossary.page(), "stale; write it with scripts/words --write-glossary"
