"""Experiment files from a few words: a machine like another, jobs by name and size, families at one price."""

from odonata.drafts.draft import Draft, comparison, experiment
from odonata.drafts.jobs import JobDraft, read_job

__all__ = ["Draft", "JobDraft", "comparison", "experiment", "read_job"]
