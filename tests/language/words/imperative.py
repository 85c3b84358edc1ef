"""Whether a text starts with an imperative verb, as a commit subject and the help of a command do.

Without a dictionary this is a guess by the form of the first word. It lets a noun pass rather than refuse a
verb.
"""

from __future__ import annotations

import re

NO_VERBS = set(
    """
    a all also among an and any as at because before both but by each every everything few for from
    he his how if in into it its many more most much my new no not nothing now of on one only or
    other others our she since so some than that the their them then there these they this those
    through to two three four five six seven eight nine ten twelve twenty under until we what
    whatever when where whether which while who whom whose why with within without you your
    """.split()  # noqa: SIM905 - shorter than a list of texts
)
PAST = set(
    """
    became began brought built came chose did found gave got had heard held kept knew lay led left
    lost made meant met paid ran rose said sat saw sent shown spent stood taught thought told took
    was went were won wrote
    """.split()  # noqa: SIM905 - shorter than a list of texts
)
VERBS = {
    "address", "alias", "bias", "bring", "bypass", "canvas", "embed", "exceed", "feed", "focus", "need",
    "proceed", "ring", "seed", "shed", "speed", "spring", "string", "succeed", "swing",
}  # fmt: skip
"""Verbs that look like another form."""


def problem(text: str) -> str | None:
    """Why the first word is no imperative verb; nothing if it may be one."""
    found = re.match(r"[^\w]*([A-Za-z][\w'-]*)", text)
    if not found:
        return "it does not start with a word"
    word = found[1].lower()
    if word in VERBS:
        return None
    if word in NO_VERBS:
        return f"'{found[1]}' is no verb"
    if word in PAST or word.endswith("ed"):
        return f"'{found[1]}' is the past"
    if word.endswith("ing"):
        return f"'{found[1]}' is no imperative"
    if word.endswith("s") and not word.endswith(("ss", "us")):
        return f"'{found[1]}' is a plural or a third person"
    return None
