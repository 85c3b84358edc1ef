"""Imports the state of a machine from other programs, as parts of an experiment file."""

from odonata.importers.experiments import (
    ImportResult,
    from_atlahs,
    from_codes,
    from_ember,
    from_slurm,
    from_tracer,
)

__all__ = ["ImportResult", "from_atlahs", "from_codes", "from_ember", "from_slurm", "from_tracer"]
