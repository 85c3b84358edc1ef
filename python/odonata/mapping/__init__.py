"""Mappings of ranks to places of a torus: construct them as Rubik does, measure them, search for better ones.

from odonata.mapping import box

app = box([16, 8, 16])
app.tile([1, 8, 16])
net = box([8, 8, 32, 1])
net.tile([8, 8, 2])
net.map(app)
net.write_map_file("pf3d.map")
"""

from odonata.mapping.boxes import Box, box, div, mod
from odonata.mapping.measure import Figures, Job, jobs, link_loads, measure, write_map_file
from odonata.mapping.search import MeasuredMapping, SearchResult, best_orders, orders, search

__all__ = [
    "Box",
    "Figures",
    "Job",
    "MeasuredMapping",
    "SearchResult",
    "best_orders",
    "box",
    "div",
    "jobs",
    "link_loads",
    "measure",
    "mod",
    "orders",
    "search",
    "write_map_file",
]
