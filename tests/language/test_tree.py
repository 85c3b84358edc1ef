"""Every name and text of the project is plain: what `scripts/words` checks."""

import pytest
from words import tree

SHOWN = 100


@pytest.mark.slow  # `make quick` runs `scripts/words`
def test_names_and_texts_are_plain() -> None:
    """One test, since the whole tree takes some seconds of two processors."""
    reports = tree.check_tree()
    assert len(reports) > 1000, "the files were found"
    found = [str(finding) for report in reports for finding in report.findings]
    rest = f"\n... and {len(found) - SHOWN} more: run scripts/words" if len(found) > SHOWN else ""
    assert not found, "\n".join(found[:SHOWN]) + rest
