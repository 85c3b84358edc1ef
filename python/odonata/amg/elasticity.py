"""The paper's elasticity problem: an 8:1 cantilever of two materials, linear tetrahedra, by MFEM.

It solves -div(sigma(u)) = 0 with sigma(u) = lambda div(u) I + mu (grad u + grad u^T). lambda = mu = 50 in the
half at the wall, 1 in the other half. u = 0 at the wall, and the far end is pulled down by 0.01. Unknowns are
ordered along the beam, three per vertex.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from odonata.amg.optional import Csr, optional

LENGTH = 8
STIFF, SOFT = 50.0, 1.0
_BASE = 4
"""Cells across the beam before refinement."""


def assemble(refinement: int) -> tuple[Csr, npt.NDArray[np.float64]]:
    """The matrix after eliminating the wall, and the coordinates of its vertices.

    Args:
        refinement: 0 has 4 cells across the beam; each step doubles them.

    Raises:
        OdonataError: MFEM or SciPy is missing.
    """
    mfem = optional("mfem.ser", "mfem", "the elasticity problem")
    sparse = optional("scipy.sparse", "scipy", "the elasticity problem")
    cells = _BASE * 2**refinement
    mesh = mfem.Mesh.MakeCartesian3D(
        LENGTH * cells, cells, cells, mfem.Element.TETRAHEDRON, float(LENGTH), 1.0, 1.0
    )
    _mark(mesh)
    space = mfem.FiniteElementSpace(mesh, mfem.H1_FECollection(1, 3), 3, mfem.Ordering.byVDIM)
    half = mfem.Vector(2)
    half[0], half[1] = STIFF, SOFT
    form = mfem.BilinearForm(space)
    form.AddDomainIntegrator(
        mfem.ElasticityIntegrator(mfem.PWConstCoefficient(half), mfem.PWConstCoefficient(half))
    )
    form.Assemble()
    form.Finalize()
    loose = form.SpMat()
    matrix = sparse.csr_matrix(
        (np.array(loose.GetDataArray()), np.array(loose.GetJArray()), np.array(loose.GetIArray())),
        shape=(loose.Height(), loose.Width()),
    )
    return _along_the_beam(matrix, np.array(mesh.GetVertexArray()))


def _mark(mesh: Any) -> None:
    """Sets attribute 1 for the half at the wall, 2 for the other."""
    centre = np.zeros(3)
    for element in range(mesh.GetNE()):
        vertices = mesh.GetElementVertices(element)
        centre = np.mean([mesh.GetVertexArray(vertex) for vertex in vertices], axis=0)
        mesh.SetAttribute(element, 1 if centre[0] < LENGTH / 2 else 2)
    mesh.SetAttributes()


def _along_the_beam(matrix: Csr, vertices: Any) -> tuple[Csr, npt.NDArray[np.float64]]:
    """Sorts vertices along the beam and removes the fixed ones at the wall."""
    order = np.lexsort((vertices[:, 2], vertices[:, 1], vertices[:, 0]))
    free = order[vertices[order, 0] > 1e-9]
    unknowns = (3 * free[:, None] + np.arange(3)[None, :]).ravel()
    chosen = matrix[unknowns][:, unknowns].tocsr()
    chosen.eliminate_zeros()
    return chosen, vertices[free]
