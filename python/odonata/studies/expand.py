"""Expands the experiments of a study to sweeps: every file with its axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import _core, toml
from odonata.api import overrides, read
from odonata.errors import OdonataError
from odonata.store.sweep import Axis, Point, points
from odonata.studies.read import nearest
from odonata.studies.spec import ALONE, FILE, TOGETHER, Experiment
from odonata.sweeps.result import read_sweep

Variants = Callable[[str], Mapping[str, Mapping[str, Any]]]
"""Calls a function of `study.py` by its name for the choices of an axis."""


@dataclass(frozen=True)
class Part:
    """One file of an experiment, run as a sweep."""

    experiment: str
    label: str
    """Label of the file; empty if the experiment has only one."""
    sweep: _core.Experiment
    axes: tuple[Axis, ...]

    @property
    def name(self) -> str:
        """Name of the directory."""
        return f"{self.experiment}-{self.label}" if self.label else self.experiment

    @property
    def points(self) -> list[Point]:
        """All points."""
        return points(self.axes)


def parts(experiment: Experiment, variants: Variants) -> list[Part]:
    """The sweeps of an experiment.

    Raises:
        OdonataError: A file is missing or wrong, or `quick` keeps an unknown value.
    """
    less = dict(experiment.less)
    files = _kept(experiment, FILE, experiment.files, less) if len(experiment.files) > 1 else experiment.files
    return [_part(experiment, label, path, dict(less), variants) for label, path in files.items()]


def _part(experiment: Experiment, label: str, path: Path, less: dict[str, Any], variants: Variants) -> Part:
    sweep = overrides({f"sweep.{key}": values for key, values in experiment.sweep.items()})
    file = read(path)
    fixed = overrides(experiment.set)
    named = _variant_axes(experiment, less, variants)
    # The file contains the sweep, so its axes are read before `quick` applies.
    swept = {axis.key for axis in read_sweep(file.with_overrides([*fixed, *sweep]))}
    for key in list(less):
        if key in swept:
            sweep += overrides({f"sweep.{key}": _values(experiment, key, less.pop(key))})
    if experiment.alone:
        named.append(_alone(experiment, file.with_overrides(fixed), less))
    fixed += overrides(less)
    axes = [*named, *read_sweep(file.with_overrides([*fixed, *sweep]))]
    keys = [axis.key for axis in axes]
    for key in keys:
        if keys.count(key) > 1 or key == FILE:
            raise OdonataError(f"experiment {experiment.name}: two axes have the name {key}")
    return Part(experiment.name, label, file.with_overrides(fixed), tuple(axes))


def _variant_axes(experiment: Experiment, less: dict[str, Any], variants: Variants) -> list[Axis]:
    axes = []
    for axis, given in experiment.variants.items():
        choices = variants(given) if isinstance(given, str) else given
        choices = _kept(experiment, axis, choices, less)
        changed = tuple(tuple(overrides(keys)) for keys in choices.values())
        axes.append(Axis(axis, tuple(choices), changed))
    return axes


def _alone(experiment: Experiment, file: _core.Experiment, less: dict[str, Any]) -> Axis:
    """All jobs together, then each alone while the others occupy their nodes and send nothing."""
    jobs = [job["name"] for job in file.check()["summary"]["jobs"]]
    chosen = jobs if experiment.alone is True else list(experiment.alone or ())
    for name in chosen:
        if name not in jobs:
            raise OdonataError(
                f"experiment {experiment.name}: alone: {file.path} has no job {name}",
                hint=nearest(name, jobs),
            )
    choices: dict[str, dict[str, Any]] = {TOGETHER: {}}
    for name in chosen:
        choices[name] = {f"job.{toml.key(other)}.idle": True for other in jobs if other != name}
    kept = _kept(experiment, ALONE, choices, less)
    return Axis(ALONE, tuple(kept), tuple(tuple(overrides(keys)) for keys in kept.values()))


def _kept(
    experiment: Experiment, axis: str, choices: Mapping[str, Any], less: dict[str, Any]
) -> dict[str, Any]:
    """The choices of an axis that `quick` keeps."""
    if axis not in less:
        return dict(choices)
    names = _values(experiment, axis, less.pop(axis))
    for name in names:
        if name not in choices:
            raise OdonataError(
                f"experiment {experiment.name}: quick keeps {axis} = {name!r}, which is not a value of it",
                hint=nearest(str(name), choices),
            )
    return {name: choices[name] for name in names}


def _values(experiment: Experiment, axis: str, given: Any) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise OdonataError(
            f"experiment {experiment.name}: quick has {axis} = {given!r}, expected a list of its values"
        )
    return given
