"""Boxes of ranks that are cut, moved and mapped onto each other, with Rubik's names and results.

A box is an array in row-major order (last axis fastest). Its parts are views: moving cells in a part moves
them in the box. Axes are numbered from 0. The placement `mapping` has the same operations in `script`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from odonata.errors import OdonataError

Cutting: TypeAlias = Literal["div", "mod"]

div: Cutting = "div"
"""Contiguous parts of floor(n / parts) cells; the last part has the rest."""
mod: Cutting = "mod"
"""Part p has the cells p, p + parts, .."""


def box(shape: Sequence[int]) -> Box:
    """A box whose cells hold the ranks 0, 1, .. in row-major order."""
    if not shape or any(size < 1 for size in shape):
        raise OdonataError(f"a box of {list(shape)}; expected positive sizes")
    return Box(np.arange(math.prod(shape)).reshape(shape))


class Box:
    """Ranks in a box, or in a part of a box."""

    def __init__(self, ranks: npt.NDArray[np.int64]) -> None:
        self.ranks = ranks
        """The rank in each cell."""
        self.children: npt.NDArray[np.object_] = np.empty(0, dtype=object)
        """The parts, by number of the part along each axis."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of cells along each axis."""
        return self.ranks.shape

    def __iter__(self) -> Iterator[Box]:
        """The parts in row-major order."""
        return iter(self.children.flat)

    def leaves(self) -> Iterator[Box]:
        """The parts that are not cut further, in row-major order; the box itself if it is not cut."""
        if self.children.size == 0:
            yield self
        for child in self:
            yield from child.leaves()

    def cut(self, parts: Sequence[int], how: Cutting | Sequence[Cutting] = div) -> None:
        """Cuts each axis into a number of parts; further axes stay whole.

        Args:
            parts: Number of parts along each axis.
            how: `div` or `mod` for all axes, or one of them for each axis.

        Raises:
            OdonataError: There are more numbers than axes, or more parts than cells.
        """
        methods = [how] * len(parts) if isinstance(how, str) else list(how)
        if len(parts) > self.ranks.ndim or len(methods) != len(parts):
            raise OdonataError(
                f"{len(parts)} numbers and {len(methods)} methods to cut a box of {self.ranks.ndim} axes"
            )
        for axis, (count, method) in enumerate(zip(parts, methods, strict=True)):
            if method not in (div, mod):
                raise OdonataError(f"axis {axis} is cut by {method!r}; expected 'div' or 'mod'")
            if not 1 <= count <= self.shape[axis]:
                raise OdonataError(f"axis {axis} of {self.shape[axis]} cells can't be cut into {count} parts")
        self.children = np.empty(tuple(parts), dtype=object)
        for index in np.ndindex(*parts):
            chosen = zip(self.shape, index, parts, methods, strict=False)
            self.children[index] = Box(self.ranks[tuple(_part(*one) for one in chosen)])

    def div(self, parts: Sequence[int]) -> None:
        """Cuts each axis into contiguous parts; the last part takes the rest."""
        self.cut(parts, div)

    def mod(self, parts: Sequence[int]) -> None:
        """Cuts each axis into parts whose cells are `parts` apart."""
        self.cut(parts, mod)

    def tile(self, sizes: Sequence[int]) -> None:
        """Cuts each axis into floor(n / size) contiguous parts."""
        for axis, (cells, size) in enumerate(zip(self.shape, sizes, strict=False)):
            if not 1 <= size <= cells:
                raise OdonataError(f"a tile of {size} cells along axis {axis}, which has {cells}")
        self.div([cells // size for cells, size in zip(self.shape, sizes, strict=False)])

    def map(self, app: Box) -> None:
        """Moves the ranks of another box's leaves into this box's leaves, in row-major order.

        Raises:
            OdonataError: The numbers or sizes of the leaves differ.
        """
        own, others = list(self.leaves()), list(app.leaves())
        if len(own) != len(others):
            raise OdonataError(f"the box has {len(own)} leaves, but the mapped box has {len(others)}")
        for number, (to, of) in enumerate(zip(own, others, strict=True)):
            if to.ranks.size != of.ranks.size:
                raise OdonataError(
                    f"leaf {number} has {to.ranks.size} cells, but {of.ranks.size} in the mapped box"
                )
            to.ranks[...] = of.ranks.reshape(to.shape)

    def tilt(self, axis: int, direction: int, slope: int = 1) -> None:
        """Rolls plane i of the axis `direction` along `axis` by i `slope` cells."""
        self._roll(axis, direction, lambda plane: plane * slope)

    def shear(self, axis: int, direction: int, slope: int = 1) -> None:
        """Rolls plane i of the axis `axis` along `direction` by i `slope` cells."""
        self.tilt(direction, axis, slope)

    def zigzag(self, axis: int, direction: int, depth: int = 1, stride: int = 1) -> None:
        """Rolls plane i of `direction` along `axis` by depth - floor(|i - base| depth / stride) cells.

        The base of plane i is 2 stride floor(i / (2 stride)) + stride.
        """
        if stride < 1:
            raise OdonataError(f"a stride of {stride}; expected at least 1")

        def shift(plane: int) -> int:
            base = plane // (2 * stride) * (2 * stride) + stride
            return depth - abs(plane - base) * depth // stride

        self._roll(axis, direction, shift)

    def zorder(self) -> None:
        """Puts the ranks, row by row, on the cells in the order of Morton codes, axis 0 in the lowest bit."""
        cells = np.indices(self.shape).reshape(self.ranks.ndim, -1)
        code = np.zeros(self.ranks.size, dtype=object if self.ranks.ndim * 20 > 62 else np.int64)
        for bit in range(max(self.shape).bit_length()):
            for axis in range(self.ranks.ndim):
                code |= (cells[axis] >> bit & 1).astype(code.dtype) << (bit * self.ranks.ndim + axis)
        moved = np.empty(self.ranks.size, dtype=self.ranks.dtype)
        moved[np.argsort(code, kind="stable")] = self.ranks.ravel()
        self.ranks[...] = moved.reshape(self.shape)

    def transpose(self, axes: Sequence[int]) -> None:
        """Puts the ranks on the cells, row by row, in the order of the box with its axes in this order."""
        if sorted(axes) != list(range(self.ranks.ndim)):
            raise OdonataError(f"axes {list(axes)}; expected each of 0 to {self.ranks.ndim - 1} once")
        self.ranks[...] = self.ranks.transpose(axes).reshape(self.shape)

    def _roll(self, along: int, by: int, shift: Callable[[int], int]) -> None:
        axes = range(self.ranks.ndim)
        if along == by or along not in axes or by not in axes:
            raise OdonataError(f"axes {along} and {by}; expected two of 0 to {self.ranks.ndim - 1}")
        planes = np.moveaxis(self.ranks, by, 0)
        for number, plane in enumerate(planes):
            plane[...] = np.roll(plane, shift(number), axis=along - (along > by))

    def write_map_file(self, path: str | Path) -> None:
        """Writes the cell of rank r to line r: one coordinate per axis, the last for `T`."""
        order = np.argsort(self.ranks, axis=None)
        cells = np.stack(np.unravel_index(order, self.shape), axis=1)
        np.savetxt(path, cells, fmt="%d")


def _part(cells: int, number: int, parts: int, how: Cutting) -> slice:
    if how == mod:
        return slice(number, None, parts)
    length = cells // parts
    return slice(number * length, None if number + 1 == parts else (number + 1) * length)
