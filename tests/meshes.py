"""Matrices of meshes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.spatial import Delaunay


def random_mesh(points: int, seed: int = 3) -> tuple[sparse.csr_matrix, Any]:
    """The stiffness matrix of linear triangles between random points of a square, and their places."""
    places = np.random.default_rng(seed).random((points, 2))
    corners = Delaunay(places).simplices
    a, b, c = (places[corners[:, i]] for i in range(3))
    area = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2
    edges = np.stack([c - b, a - c, b - a], axis=1)
    local = np.einsum("tid,tjd->tij", edges, edges) / (4 * area)[:, None, None]
    rows, columns = np.repeat(corners[:, :, None], 3, 2), np.repeat(corners[:, None, :], 3, 1)
    whole = sparse.coo_matrix((local.ravel(), (rows.ravel(), columns.ravel())), (points, points)).tocsr()
    inner = ((places > 0.03) & (places < 0.97)).all(axis=1)
    return whole[inner][:, inner].tocsr(), places[inner]
