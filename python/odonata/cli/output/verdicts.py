"""Output of a study's results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.quantity import counted
from odonata.studies import Report, Results, Verdict
from odonata.studies.claim_spec import OPEN, VERDICTS
from odonata.studies.page import PAGE_HTML
from odonata.studies.run import StudyRun

if TYPE_CHECKING:
    from rich.console import Console


def print_report(
    screen: Console, results: Results, report: Report, ran: StudyRun | None, *, quiet: bool
) -> None:
    """Prints points, verdicts and the path of the page; when quiet only verdicts worse than expected."""
    study = results.study
    form = " (quick form)" if study.quick else ""
    worse = [verdict for verdict in report.verdicts if not verdict.as_expected]
    if not quiet:
        screen.print(f"{study.title}{form}", style="bold", soft_wrap=True)
        if ran is not None:
            points = counted(ran.points, "point")
            screen.print(f"{points}: {ran.points - ran.kept} run, {ran.kept} already finished")
    for verdict in worse if quiet else report.verdicts:
        _print_verdict(screen, verdict)
    if not quiet:
        counts = dict.fromkeys((*reversed(VERDICTS), OPEN), 0)
        for verdict in report.verdicts:
            counts[verdict.word] += 1
        screen.print(", ".join(f"{count} {word}" for word, count in counts.items() if count), style="bold")
        if worse:
            screen.print(f"{len(worse)} worse than expected", style="bold red")
        screen.print(f"Page: {results.directory / PAGE_HTML}\n", soft_wrap=True)


def _print_verdict(screen: Console, verdict: Verdict) -> None:
    style = "" if verdict.as_expected else "red"
    expected = "" if verdict.as_expected else f" (expected: {verdict.claim.expect})"
    screen.print(f"{verdict.word:<12} {verdict.claim.says}{expected}", style=style, soft_wrap=True)
    screen.print(f"{'':<13}{verdict.reason()}", style="dim", soft_wrap=True)
