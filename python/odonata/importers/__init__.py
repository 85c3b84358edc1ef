"""Imports the state of a machine from other programs, as parts of an experiment file."""

from odonata.importers.configurations import from_booksim, from_caminos, from_simgrid, from_sst
from odonata.importers.experiments import (
    ImportResult,
    from_atlahs,
    from_codes,
    from_ember,
    from_slurm,
    from_tracer,
)
from odonata.importers.live_slurm import slurm_topology

__all__ = [
    "ImportResult",
    "from_atlahs",
    "from_booksim",
    "from_caminos",
    "from_codes",
    "from_ember",
    "from_simgrid",
    "from_slurm",
    "from_sst",
    "from_tracer",
    "slurm_topology",
]
