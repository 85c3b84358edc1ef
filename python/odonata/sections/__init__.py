"""Types of the sections of an experiment, for editors and type checkers.

Written from the declared keys: see `tests/section_types.py`.
"""

from odonata.sections.cluster import Cluster
from odonata.sections.engine import Engine
from odonata.sections.interference import Interference
from odonata.sections.job import Job
from odonata.sections.machine import Machine
from odonata.sections.mpi import Mpi
from odonata.sections.optimize import Optimize
from odonata.sections.output import Output
from odonata.sections.traffic_class import TrafficClass

__all__ = ["Cluster", "Engine", "Interference", "Job", "Machine", "Mpi", "Optimize", "Output", "TrafficClass"]
