"""What other programs say of a machine's state, as parts of an experiment file."""

from odonata.importers.experiments import Imported, from_codes, from_slurm, from_tracer

__all__ = ["Imported", "from_codes", "from_slurm", "from_tracer"]
