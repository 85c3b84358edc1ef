"""The section `cluster` of an experiment.

Written from the declared keys: see `tests/section_types.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class Cluster(TypedDict, total=False):
    """Keys of the section `cluster`.

    Resources that `odonata sweep --on slurm`, `pbs` or `lsf` requests from the batch system. Other
    commands ignore the section, and no result depends on it.
    """

    cores: int
    """Processors of a batch job."""
    memory: str
    """Memory of a batch job."""
    walltime: str
    """Time limit of a batch job, longer than the longest point, in the format of the batch system:
    `"04:00:00"`.
    """
    jobs: int
    """Batch jobs that run at the same time. Default: 1."""
    queue: str
    """Queue or partition."""
    account: str
    """Account or project to charge."""
    directives: Sequence[str]
    """Other options of the batch system, each as written after `#SBATCH`, `#PBS` or `#BSUB`: `["--
    constraint=cpu"]`.
    """
    setup: Sequence[str]
    """Shell commands before the workers start: `["module load python"]`."""
    python: str
    """Command that starts Python in a batch job: `"apptainer exec odonata.sif python3"`."""
