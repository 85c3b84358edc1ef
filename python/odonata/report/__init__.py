"""A run, a comparison, a sweep or a search on one page: its sentence, figures, tables and method."""

from odonata.report.content import FIGURES, Report
from odonata.report.of_comparison import report_of_comparison
from odonata.report.of_run import report_of_run
from odonata.report.of_search import report_of_search
from odonata.report.of_sweep import report_of_sweep
from odonata.report.writing import check_file, report_of, write_report

__all__ = [
    "FIGURES",
    "Report",
    "check_file",
    "report_of",
    "report_of_comparison",
    "report_of_run",
    "report_of_search",
    "report_of_sweep",
    "write_report",
]
