"""Matrices without a grid of hypre: a random finite-element mesh, and convection-diffusion.

Tests and the tables of the study use them to compare predicted with executed redistributions. Needs SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from odonata.amg.optional import Csr, optional

_EDGE = 0.03
"""Width of the boundary of the unit square, where values are prescribed."""


def random_mesh(points: int, seed: int = 3) -> tuple[Csr, npt.NDArray[np.float64]]:
    """The stiffness matrix of linear triangles between random points of a square, and their places.

    Points are numbered at random, as in the output of many mesh generators.

    Args:
        points: Number of points; points near the edge are left out.
        seed: Seed of the coordinates.
    """
    sparse = optional("scipy.sparse", "scipy", "a random mesh")
    spatial = optional("scipy.spatial", "scipy", "a random mesh")
    places = np.random.default_rng(seed).random((points, 2))
    corners = spatial.Delaunay(places).simplices
    a, b, c = (places[corners[:, i]] for i in range(3))
    area = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2
    edges = np.stack([c - b, a - c, b - a], axis=1)
    local = np.einsum("tid,tjd->tij", edges, edges) / (4 * area)[:, None, None]
    rows, columns = np.repeat(corners[:, :, None], 3, 2), np.repeat(corners[:, None, :], 3, 1)
    whole = sparse.coo_matrix((local.ravel(), (rows.ravel(), columns.ravel())), (points, points)).tocsr()
    inner = ((places > _EDGE) & (places < 1 - _EDGE)).all(axis=1)
    return whole[inner][:, inner].tocsr(), places[inner]


def convection_diffusion(side: int, wind: float = 2.0) -> Any:
    """Diffusion in a cube of side^3 points with upwind convection along one direction: not symmetric."""
    sparse = optional("scipy.sparse", "scipy", "convection-diffusion")
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side))
    carried = sparse.diags([-1.0, 1.0], [-1, 0], shape=(side, side))
    cube = sparse.kronsum(sparse.kronsum(line, line), line)
    return sparse.csr_matrix(cube + wind * sparse.kron(sparse.eye(side * side), carried))
