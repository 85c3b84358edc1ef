"""Studies: folders of experiments and claims that are run and judged; see `docs/reference/study-file.md`."""

from odonata.studies.judge import Finding, Verdict
from odonata.studies.page import Report, report
from odonata.studies.results import Results
from odonata.studies.run import check_finished, check_up_to_date, count_finished, count_started, run_study
from odonata.studies.spec import Study, available, find, load

__all__ = [
    "Finding",
    "Report",
    "Results",
    "Study",
    "Verdict",
    "available",
    "check_finished",
    "check_up_to_date",
    "count_finished",
    "count_started",
    "find",
    "load",
    "report",
    "run_study",
]
