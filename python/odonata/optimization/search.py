"""The search: Optuna proposes configurations, the engines run them.

```text
[sweep], [optimize] ─► SearchSettings ─► ask for a batch ─► run its points ─► report values ─► trials.parquet
                                               ▲                                     │
                                               └────────────── optuna.log ◄──────────┘
```
All batches have the same size, and each has its own random stream. So the trials do not depend on the number
of processes or on interruptions.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from odonata import __version__, files
from odonata._core import Experiment
from odonata.api import ExperimentInput, read
from odonata.errors import DamagedRunError, ExperimentError, OdonataError, StoreError
from odonata.notebook import shown
from odonata.optimization.objectives import PRICE, NoResultError, price_of, value_of
from odonata.optimization.result import Optimization, SearchSettings, Trial, table_of
from odonata.runs import Run
from odonata.store.atomic import atomic_file, is_unused, remove_remains
from odonata.store.optimization import DESCRIPTION, TRIALS, read_description
from odonata.store.schema import ENDINGS, EXPERIMENT
from odonata.store.sweep import point_at
from odonata.sweeps.execute import processors, run_tasks
from odonata.sweeps.point import Task
from odonata.sweeps.result import read_sweep

if TYPE_CHECKING:
    import optuna

BATCH = 8
"""Configurations per batch. Larger batches run more in parallel, but the sampler learns less often."""

SEEDS = "engine.seed"

Evaluate = Callable[[Sequence[tuple[int, ...]]], Mapping[tuple[int, ...], Trial]]
"""Takes configurations as indices of values on the axes, and returns a trial for each, with any number."""

Progress = Callable[[int, int], None]
"""Takes the number of finished trials and of all trials."""


def optimize(
    experiment: ExperimentInput,
    *,
    out: str | Path,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    processes: int | None = None,
    progress: Progress | None = None,
) -> Optimization:
    """Searches an experiment's table `[sweep]` for the configurations that are best by its `[optimize]`.

    Needs the extra `odonata[optimize]`. It starts processes, so call it from scripts below
    `if __name__ == "__main__":`. An interrupted search resumes.

    Args:
        experiment: A file, its text, or a dict.
        out: Directory of the search; an existing one of the same search resumes.
        set: Keys to change in all runs.
        processes: Number of concurrent runs; by default the number of processors.
        progress: Called after each batch. Without it, a notebook shows a bar.

    Returns:
        One row per trial: the chosen values, then the quantities. Times are in seconds, prices in the unit of
        the experiment.

    Raises:
        OdonataError: The experiment lacks choices or objectives, or `out` holds something else.

    Examples:
        >>> found = odonata.optimize("design.toml", out="runs/best", processes=1)
        >>> for trial in found.front.to_pylist():
        ...     print(trial["machine.edit"], trial["engine.routing"], f"{1e6 * trial['slowest job']:.0f} us")
        [] adaptive-hybrid 144 us
    """
    experiment, directory = read(experiment, set), Path(out)
    optuna = _optuna()
    settings, trial_count = _read_settings(experiment)
    _make(directory, settings, experiment)
    runner = _Runner(experiment, directory, settings, processes or processors())
    with shown(progress, lambda bar: partial(bar.count, "running")) as report:
        trials = search(
            settings,
            trial_count,
            runner.run,
            storage=_open_log(optuna, directory / "optuna.log"),
            each=lambda found: _write(directory, settings, found),
            progress=report,
        )
    return Optimization(directory, settings.objectives, _write(directory, settings, trials))


def search(
    settings: SearchSettings,
    trial_count: int,
    evaluate: Evaluate,
    *,
    storage: Any = None,
    each: Callable[[Sequence[Trial]], object] | None = None,
    progress: Progress | None = None,
) -> list[Trial]:
    """Runs a search and returns its trials.

    Args:
        settings: Axes, objectives, constraints and sampler.
        trial_count: Number of configurations to try; the first values of the axes come first.
        evaluate: Called with the new configurations of a batch.
        storage: Optuna's storage, from which the search resumes; in memory by default.
        each: Called with all trials after each batch.
        progress: Called before each batch.
    """
    optuna = _optuna()
    trial_count = min(trial_count, settings.combinations)
    study = optuna.create_study(
        storage=storage,
        study_name="odonata",
        directions=["minimize"] * len(settings.objectives),
        load_if_exists=True,
    )
    known = {trial.place: trial for trial in _load_trials(optuna, study)}
    report = progress or (lambda *_: None)
    is_exhaustive = settings.sampler == "grid" or (
        settings.sampler == "auto" and settings.combinations <= trial_count
    )
    first = _order(settings, trial_count) if is_exhaustive else [(0,) * len(settings.axes)]
    evaluated = sum("kept" in trial.user_attrs for trial in study.trials)
    # Samplers may repeat proposals. That costs no run, but the factor 20 ends a search without new ones.
    for turn in itertools.count(evaluated // BATCH):
        report(len(known), trial_count)
        if len(known) >= trial_count or turn * BATCH > 20 * trial_count:
            break
        study.sampler = _sampler(optuna, settings, turn)
        for place in [place for place in first if place not in known][:BATCH]:
            study.enqueue_trial({axis.key: i for axis, i in zip(settings.axes, place, strict=True)})
        proposals = [study.ask(_distributions(optuna, settings)) for _ in range(BATCH)]
        places = [tuple(proposal.params[axis.key] for axis in settings.axes) for proposal in proposals]
        found = evaluate([place for place in dict.fromkeys(places) if place not in known])
        for place, proposal in zip(places, proposals, strict=True):
            if place not in known:
                known[place] = replace(found[place], number=len(known))
            _report_trial(optuna, study, settings, proposal, known[place])
        if each:
            each(list(known.values()))
    return list(known.values())


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise OdonataError(
            "odonata optimize needs Optuna, which is not installed",
            hint="Install it with: pip install 'odonata[optimize]'",
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _read_settings(experiment: Experiment) -> tuple[SearchSettings, int]:
    given = experiment.optimize()
    if not given:
        raise OdonataError(
            f"{experiment.path} has no table [optimize]",
            hint='Add, for example:  [optimize]  objectives = ["slowest job"]',
        )
    axes = read_sweep(experiment)
    chosen = tuple(axis for axis in axes if axis.key != SEEDS)
    if not chosen:
        raise OdonataError(
            f"{experiment.path} has nothing to search: [sweep] lists only seeds",
            hint='Add, for example:  [sweep]  "engine.routing" = ["min", "adaptive-hybrid"]',
        )
    limits = {limit["quantity"]: float(limit["max"]) for limit in given.get("constraints", [])}
    seed = experiment.check()["summary"]["seed"]
    seeds = next((axis for axis in axes if axis.key == SEEDS), None)
    settings = SearchSettings(chosen, seeds, tuple(given["objectives"]), limits, given["sampler"], seed)
    return settings, int(given["trials"])


def _make(directory: Path, settings: SearchSettings, experiment: Experiment) -> None:
    """Creates the directory, or checks that an existing one holds the same search."""
    description = settings.describe(__version__)
    if not is_unused(directory):
        before = read_description(directory)
        now = json.loads(description)
        if before != now:
            other = next(key for key in now if before.get(key) != now[key])
            raise StoreError(
                f"{directory} holds a search with different '{other}'",
                hint="Choose another directory with -o, or remove this one.",
            )
    directory.mkdir(parents=True, exist_ok=True)
    # The description first: without it a directory is not known again after a kill.
    for name, content in ((DESCRIPTION, description), (EXPERIMENT, experiment.text)):
        with atomic_file(directory / name) as path:
            path.write_text(content, encoding="utf-8")
    (directory / "points").mkdir(exist_ok=True)
    # Of processes that were killed.
    remove_remains(directory / "points")


def _open_log(optuna: Any, path: Path) -> Any:
    """The journal of a search. Each line is JSON of Optuna."""
    hint = "Remove it to go on: finished runs are not repeated."
    # Optuna appends to the file, wherever a link leads.
    if path.is_symlink():
        raise DamagedRunError(f"{path} is a link; expected a file", hint=hint)
    try:
        if path.exists():
            _drop_partial_line(path)
        journal = optuna.storages.journal.JournalFileBackend(str(path), lock_obj=_JournalLock(path))
        storage = optuna.storages.JournalStorage(journal)
        for study in storage.get_all_studies():
            _kept_trials(storage.get_all_trials(study._study_id))
    except OSError:
        raise
    # Optuna's reader raises any error for a damaged line.
    except Exception as error:
        raise DamagedRunError(f"{path} is damaged: {error}", hint=hint) from None
    return storage


class _JournalLock:
    """A lock of a journal that ends with its process.

    Optuna's own lock is a link next to the journal: it stays when the process is killed, and on a full disk
    it cannot be released.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def acquire(self) -> bool:
        """Waits for the lock."""
        self._file = files.lock(self._path)
        return True

    def release(self) -> None:
        """Gives the lock back."""
        self._file.close()


def _drop_partial_line(path: Path) -> None:
    """Removes the line that a killed search was writing; Optuna would append to it."""
    content = files.read_bytes(path)
    if not content.endswith(b"\n"):
        os.truncate(path, content.rfind(b"\n") + 1)


def _kept_trials(trials: Iterable[optuna.trial.FrozenTrial]) -> list[Trial]:
    """Each configuration that was tried, once."""
    found: dict[tuple[int, ...], Trial] = {}
    for trial in trials:
        kept = trial.user_attrs.get("kept")
        if kept is not None and tuple(kept["place"]) not in found:
            values, spread = (None if kept[key] is None else tuple(kept[key]) for key in ("values", "spread"))
            place = tuple(kept["place"])
            found[place] = Trial(len(found), place, values, spread, kept["reason"])
    return list(found.values())


def _load_trials(optuna: Any, study: optuna.Study) -> list[Trial]:
    """The trials of an earlier call, each configuration once; its unfinished trials fail."""
    for trial in study.get_trials(states=(optuna.trial.TrialState.RUNNING, optuna.trial.TrialState.WAITING)):
        if trial.state == optuna.trial.TrialState.WAITING:
            study.ask()
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    return _kept_trials(study.trials)


def _distributions(optuna: Any, settings: SearchSettings) -> dict[str, Any]:
    categorical = optuna.distributions.CategoricalDistribution
    return {axis.key: categorical(list(range(len(axis.values)))) for axis in settings.axes}


def _sampler(optuna: Any, settings: SearchSettings, turn: int) -> Any:
    """The sampler of a batch; each batch has its own seed, so that a search can resume."""
    name = settings.sampler
    if name in ("auto", "grid"):
        # Also for several objectives: it finds more of the front in as many runs (studies/cables).
        name = "tpe"
    seed = (settings.seed * 1_000_003 + turn) % 2**32

    if name == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    if name == "tpe":
        return optuna.samplers.TPESampler(seed=seed, n_startup_trials=2 * BATCH, multivariate=True)
    return optuna.samplers.NSGAIISampler(seed=seed, population_size=2 * BATCH)


def _order(settings: SearchSettings, count: int) -> list[tuple[int, ...]]:
    """The first `count` configurations, starting with the file's first values."""
    every = itertools.product(*(range(len(axis.values)) for axis in settings.axes))
    return list(itertools.islice(every, count))


def _report_trial(
    optuna: Any, study: optuna.Study, settings: SearchSettings, proposal: Any, trial: Trial
) -> None:
    kept = {"place": trial.place, "values": trial.values, "spread": trial.spread, "reason": trial.reason}
    if trial.is_final:
        proposal.set_user_attr("kept", kept)
    if trial.values is None:
        study.tell(proposal, state=optuna.trial.TrialState.FAIL)
        return
    found = dict(zip(settings.quantities, trial.values, strict=True))
    for quantity, limit in settings.constraints.items():
        proposal.set_constraint(quantity, found[quantity] - limit)
    study.tell(proposal, list(trial.values[: len(settings.objectives)]))


def _write(directory: Path, settings: SearchSettings, trials: Sequence[Trial]) -> Any:
    table = table_of(settings, trials)
    with atomic_file(directory / TRIALS) as path:
        pq.write_table(table, path)
    return table


class _Runner:
    """Runs configurations with every seed and computes their quantities."""

    def __init__(
        self, experiment: Experiment, directory: Path, settings: SearchSettings, processes: int
    ) -> None:
        self.experiment, self.directory = experiment, directory
        self.settings, self.processes = settings, processes
        self.axes = settings.axes if settings.seeds is None else (*settings.axes, settings.seeds)

    def run(self, places: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Trial]:
        """The trials of these configurations, without numbers."""
        tasks = {place: self._tasks(place) for place in places}
        wrong = {place: reason for place in places if (reason := self._mistake(tasks[place]))}
        ready = [task for place in places if place not in wrong for task in tasks[place]]
        failed = {}
        if ready:
            _, failures = run_tasks(ready, processes=self.processes, threads=1, progress=lambda *_: None)
            failed = {failure.task.target: failure.message for failure in failures}
        found = {}
        for place in places:
            failure = next((failed[t.target] for t in tasks[place] if t.target in failed), None)
            reason = wrong.get(place) or failure
            values, spread = None, None
            if reason is None:
                try:
                    values, spread = self._quantities(tasks[place])
                except NoResultError as error:
                    reason = error.message
            found[place] = Trial(0, place, values, spread, reason, is_final=failure is None)
        return found

    def _tasks(self, place: tuple[int, ...]) -> list[Task]:
        seeds = range(len(self.settings.seeds.values)) if self.settings.seeds is not None else [None]
        places = [place if seed is None else (*place, seed) for seed in seeds]
        return [Task(self.experiment, point_at(self.axes, at), self.directory) for at in places]

    def _mistake(self, tasks: Sequence[Task]) -> str | None:
        """Why a configuration cannot run, such as missing router ports."""
        for task in tasks:
            try:
                task.experiment.check()
            except ExperimentError as error:
                return str(error).splitlines()[0].removeprefix("error: ")
        return None

    def _quantities(self, tasks: Sequence[Task]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        runs = [_complete(task) for task in tasks]
        of: list[list[float]] = []
        for quantity in self.settings.quantities:
            if quantity == PRICE:
                of.append([price_of(tasks[0].experiment)])
            else:
                of.append([value_of(quantity, run) for run in runs])
        return tuple(math.fsum(each) / len(each) for each in of), tuple(max(each) - min(each) for each in of)


def _complete(task: Task) -> Run:
    """The run of a point. One that is not complete says nothing about its configuration."""
    run = Run.from_directory(task.target)
    if not run.is_complete:
        name, meaning = task.target.name, ENDINGS[run.ending].meaning
        raise NoResultError(f"{name} did not complete: {run.ending}: {meaning}")
    return run
