"""The search: Optuna proposes combinations, the engines run them.

```text
[sweep], [optimize] ─► Asked ─► ask for a batch ─► run its points ─► aims ─► tell ─► trials.parquet
                                      ▲                                       │
                                      └───────────── optuna.log ◄─────────────┘
```
A batch is of one size wherever it runs, and each has a random stream of its own, so that the same trials
come out for any number of processes and interruptions.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from odonata import __version__, _core
from odonata.api import Experiment, Source, overrides
from odonata.errors import ExperimentError, OdonataError, StoreError
from odonata.optimization.aims import PRICE, price_of, value_of
from odonata.optimization.result import (
    Asked,
    Optimization,
    Trial,
    table_of,
)
from odonata.runs import Run
from odonata.store.optimization import DESCRIPTION, TRIALS, read_description
from odonata.store.schema import EXPERIMENT
from odonata.store.sweep import point_at
from odonata.store.whole import replacing
from odonata.sweeps.execute import processors, run_tasks
from odonata.sweeps.point import Task
from odonata.sweeps.result import read_sweep

if TYPE_CHECKING:
    import optuna

BATCH = 8
"""Combinations that are asked for at a time."""

SEEDS = "engine.seed"

Evaluate = Callable[[Sequence[tuple[int, ...]]], Mapping[tuple[int, ...], Trial]]
"""Called with combinations, each the numbers of its values on the axes: a trial for each, whose own number
does not matter."""

Told = Callable[[int, int], None]
"""Called with how many trials are done, and of how many."""


def optimize(
    experiment: Experiment,
    *,
    out: str | Path,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    processes: int | None = None,
    progress: Told | None = None,
) -> Optimization:
    """Looks among the combinations of an experiment's table `[sweep]` for what its `[optimize]` asks.

    Needs the extra `odonata[optimize]`. From a script, call this below `if __name__ == "__main__":`, since it
    starts processes. A search that was interrupted goes on where it was.

    Args:
        experiment: A file, its text, or a dict.
        out: The directory; one of the same search is continued.
        set: Keys to change in all runs.
        processes: How many runs at a time; as many as there are processors if not given.
        progress: Called after each batch.

    Returns:
        A row for each trial: the chosen values, then the aims, times in seconds and prices in the unit of
        the experiment.

    Raises:
        OdonataError: The experiment does not say what to choose or what is to be small, or `out` holds
            something else.

    Examples:
        >>> found = odonata.optimize("design.toml", out="runs/best", processes=1)
        >>> for trial in found.front.to_pylist():
        ...     print(trial["machine.edit"], trial["engine.routing"], f"{1e6 * trial['slowest job']:.0f} us")
        [] adaptive-hybrid 122 us
    """
    return run_optimization(
        Source.of(experiment), overrides(set), Path(out), processes=processes, progress=progress
    )


def run_optimization(
    source: Source,
    changes: Sequence[str],
    directory: Path,
    *,
    processes: int | None = None,
    progress: Told | None = None,
) -> Optimization:
    """`optimize` of an experiment that was read, with overrides as text."""
    optuna = _optuna()
    asked, wanted = _asked(source, changes)
    _make(directory, asked, source)
    runner = _Runner(source, tuple(changes), directory, asked, processes or processors())
    journal = optuna.storages.journal.JournalFileBackend(str(directory / "optuna.log"))
    trials = search(
        asked,
        wanted,
        runner.run,
        storage=optuna.storages.JournalStorage(journal),
        each=lambda found: _write(directory, asked, found),
        progress=progress,
    )
    return Optimization(directory, asked.minimise, _write(directory, asked, trials))


def search(
    asked: Asked,
    wanted: int,
    evaluate: Evaluate,
    *,
    storage: Any = None,
    each: Callable[[Sequence[Trial]], object] | None = None,
    progress: Told | None = None,
) -> list[Trial]:
    """The trials of a search, whatever says what a combination is worth.

    Args:
        asked: What is chosen, what is to be small, how it is looked for.
        wanted: How many combinations to try; the first values of the axes are the first.
        evaluate: Called with the combinations of a batch that were not tried before.
        storage: Optuna's, from which the search goes on; in memory if not given.
        each: Called with all trials after each batch.
        progress: Called before each batch.
    """
    optuna = _optuna()
    wanted = min(wanted, asked.combinations)
    study = optuna.create_study(
        storage=storage,
        study_name="odonata",
        directions=["minimize"] * len(asked.minimise),
        load_if_exists=True,
    )
    known = {trial.place: trial for trial in _known(optuna, study)}
    tell = progress or (lambda *_: None)
    every = asked.sampler == "grid" or (asked.sampler == "auto" and asked.combinations <= wanted)
    first = _order(asked, wanted) if every else [(0,) * len(asked.axes)]
    told = sum("kept" in trial.user_attrs for trial in study.trials)
    # Samplers propose what they have proposed before, too; that costs nothing, but there is an end to it.
    for turn in itertools.count(told // BATCH):
        tell(len(known), wanted)
        if len(known) >= wanted or turn * BATCH > 20 * wanted:
            break
        study.sampler = _sampler(optuna, asked, turn)
        for place in [place for place in first if place not in known][:BATCH]:
            study.enqueue_trial({axis.key: i for axis, i in zip(asked.axes, place, strict=True)})
        proposals = [study.ask(_distributions(optuna, asked)) for _ in range(BATCH)]
        places = [tuple(proposal.params[axis.key] for axis in asked.axes) for proposal in proposals]
        found = evaluate([place for place in dict.fromkeys(places) if place not in known])
        for place, proposal in zip(places, proposals, strict=True):
            if place not in known:
                known[place] = replace(found[place], number=len(known))
            _tell(optuna, study, asked, proposal, known[place])
        if each:
            each(list(known.values()))
    return list(known.values())


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise OdonataError(
            "odonata optimize needs Optuna, which is not installed", hint="pip install 'odonata[optimize]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _asked(source: Source, changes: Sequence[str]) -> tuple[Asked, int]:
    """What the experiment asks for, and how many trials."""
    given = _core.optimize(source.text, source.path, list(changes))
    if not given:
        raise OdonataError(
            f"{source.path} has no table [optimize]",
            hint='Add, for instance:  [optimize]  minimise = ["slowest job"]',
        )
    axes = read_sweep(source, changes)
    chosen = tuple(axis for axis in axes if axis.key != SEEDS)
    if not chosen:
        raise OdonataError(
            f"{source.path} has nothing to choose from: [sweep] lists no key but seeds",
            hint='Add, for instance:  [sweep]  "engine.routing" = ["min", "adaptive-hybrid"]',
        )
    limits = {limit["of"]: float(limit["value"]) for limit in given.get("at_most", [])}
    seed = _core.check(source.text, source.path, list(changes))["summary"]["seed"]
    seeds = next((axis for axis in axes if axis.key == SEEDS), None)
    asked = Asked(chosen, seeds, tuple(given["minimise"]), limits, given["sampler"], seed)
    return asked, int(given["trials"])


def _make(directory: Path, asked: Asked, source: Source) -> None:
    """Makes the directory, or makes sure that the one that is there is of the same search."""
    description = asked.describe(__version__)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        before = read_description(directory)
        now = json.loads(description)
        if before != now:
            other = next(key for key in now if before.get(key) != now[key])
            raise StoreError(
                f"{directory} holds a search with another '{other}'; it is left as it is",
                hint="Choose another place with -o, or remove it.",
            )
    (directory / "points").mkdir(parents=True, exist_ok=True)
    for name, content in ((EXPERIMENT, source.text), (DESCRIPTION, description)):
        with replacing(directory / name) as path:
            path.write_text(content, encoding="utf-8")


def _known(optuna: Any, study: optuna.Study) -> list[Trial]:
    """The trials of an earlier call, each combination once. What was under way then is given up."""
    for trial in study.get_trials(states=(optuna.trial.TrialState.RUNNING, optuna.trial.TrialState.WAITING)):
        if trial.state == optuna.trial.TrialState.WAITING:
            study.ask()
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    found: dict[tuple[int, ...], Trial] = {}
    for trial in study.trials:
        kept = trial.user_attrs.get("kept")
        if kept is not None and tuple(kept["place"]) not in found:
            values, spread = (None if kept[key] is None else tuple(kept[key]) for key in ("values", "spread"))
            place = tuple(kept["place"])
            found[place] = Trial(len(found), place, values, spread, kept["reason"])
    return list(found.values())


def _distributions(optuna: Any, asked: Asked) -> dict[str, Any]:
    categorical = optuna.distributions.CategoricalDistribution
    return {axis.key: categorical(list(range(len(axis.values)))) for axis in asked.axes}


def _sampler(optuna: Any, asked: Asked, turn: int) -> Any:
    """The sampler of a batch; each batch has a seed of its own, so that a search can go on."""
    name = asked.sampler
    if name in ("auto", "grid"):
        # Of several aims, too: it finds more of the front in as many runs (studies/cables).
        name = "tpe"
    seed = (asked.seed * 1_000_003 + turn) % 2**32

    if name == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    if name == "tpe":
        return optuna.samplers.TPESampler(seed=seed, n_startup_trials=2 * BATCH, multivariate=True)
    return optuna.samplers.NSGAIISampler(seed=seed, population_size=2 * BATCH)


def _order(asked: Asked, count: int) -> list[tuple[int, ...]]:
    """So many combinations, what the file's first values make first."""
    every = itertools.product(*(range(len(axis.values)) for axis in asked.axes))
    return list(itertools.islice(every, count))


def _tell(optuna: Any, study: optuna.Study, asked: Asked, proposal: Any, trial: Trial) -> None:
    kept = {"place": trial.place, "values": trial.values, "spread": trial.spread, "reason": trial.reason}
    proposal.set_user_attr("kept", kept)
    if trial.values is None:
        study.tell(proposal, state=optuna.trial.TrialState.FAIL)
        return
    found = dict(zip(asked.aims, trial.values, strict=True))
    for aim, most in asked.at_most.items():
        proposal.set_constraint(aim, found[aim] - most)
    study.tell(proposal, list(trial.values[: len(asked.minimise)]))


def _write(directory: Path, asked: Asked, trials: Sequence[Trial]) -> Any:
    table = table_of(asked, trials)
    with replacing(directory / TRIALS) as path:
        pq.write_table(table, path)
    return table


class _Runner:
    """Runs combinations, with every seed, and works out their aims."""

    def __init__(
        self, source: Source, changes: tuple[str, ...], directory: Path, asked: Asked, processes: int
    ) -> None:
        self.source, self.changes, self.directory = source, changes, directory
        self.asked, self.processes = asked, processes
        self.axes = asked.axes if asked.seeds is None else (*asked.axes, asked.seeds)

    def run(self, places: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Trial]:
        """The trials of these combinations, without numbers."""
        tasks = {place: self._tasks(place) for place in places}
        wrong = {place: reason for place in places if (reason := self._mistake(tasks[place]))}
        ready = [task for place in places if place not in wrong for task in tasks[place]]
        failed = {}
        if ready:
            _, failures = run_tasks(ready, processes=self.processes, threads=1, progress=lambda *_: None)
            failed = {failure.task.target: failure.message for failure in failures}
        found = {}
        for place in places:
            reason = wrong.get(place) or next(
                (failed[t.target] for t in tasks[place] if t.target in failed), None
            )
            values, spread = (None, None) if reason else self._aims(tasks[place])
            found[place] = Trial(0, place, values, spread, reason)
        return found

    def _tasks(self, place: tuple[int, ...]) -> list[Task]:
        seeds = range(len(self.asked.seeds.values)) if self.asked.seeds is not None else [None]
        places = [place if seed is None else (*place, seed) for seed in seeds]
        return [Task(self.source, self.changes, point_at(self.axes, at), self.directory) for at in places]

    def _mistake(self, tasks: Sequence[Task]) -> str | None:
        """Why a combination cannot be run, such as ports that a router does not have."""
        for task in tasks:
            try:
                _core.check(self.source.text, self.source.path, task.overrides)
            except ExperimentError as error:
                return str(error).splitlines()[0].removeprefix("error: ")
        return None

    def _aims(self, tasks: Sequence[Task]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        runs = [Run.from_directory(task.target) for task in tasks]
        of: list[list[float]] = []
        for aim in self.asked.aims:
            if aim == PRICE:
                of.append([price_of(self.source, tasks[0].overrides)])
            else:
                of.append([value_of(aim, run) for run in runs])
        return tuple(math.fsum(each) / len(each) for each in of), tuple(max(each) - min(each) for each in of)
