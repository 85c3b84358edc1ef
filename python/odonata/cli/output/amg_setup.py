"""Tables of the set-up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.cli.output import terminal

if TYPE_CHECKING:
    from odonata.amg.objective import Choice, Decision
    from odonata.amg.setup import KernelCost
    from odonata.amg.setup_simulation import SetUpSimulation


def kernels(costs: list[KernelCost], simulated: SetUpSimulation | None = None) -> Any:
    """One row per level and kernel: counts, model, and if there is one, the simulation."""
    columns: dict[str, Any] = {
        "level": "{level}",
        "kernel": "{kernel}",
        "exchanges": "{exchanges:,}",
        "messages": "{messages:,}",
        "kB": lambda one: f"{one.bytes / 1e3:,.0f}",
        "collectives": "{collectives:.0f}",
    }
    if simulated is None:
        columns["model"] = lambda one: f"{1e3 * one.communication_s:.4f}"
    else:
        columns["model"] = lambda one: f"{1e3 * simulated.modelled[one.level, one.kernel]:.4f}"
        columns["simulated"] = lambda one: f"{1e3 * simulated.kernels.get((one.level, one.kernel), 0.0):.4f}"
    return terminal.listed(costs, columns, title="Communication of the set-up, ms", left=["kernel"])


def levels(simulated: SetUpSimulation) -> Any:
    """One row per level."""
    columns: dict[str, Any] = {
        "level": "{level}",
        "messages": "{messages:,}",
        "model": lambda one: f"{1e3 * one.model_s:.4f}",
        "simulated": lambda one: f"{1e3 * one.simulated_s:.4f}",
        "model off by, %": lambda one: f"{100 * one.off:+.1f}",
    }
    return terminal.listed(simulated.levels, columns, title="Levels of the set-up, ms")


def decision(found: Decision, most: int) -> Any:
    """The best choices for an objective; the first row is without a switch."""
    columns: dict[str, Any] = {
        "level": lambda one: str(one.level) if one.groups else "none",
        "to ranks": lambda one: str(one.groups) if one.groups else "-",
        "set-up": lambda one: f"{1e3 * one.setup_s:.3f}",
        "cycle": lambda one: f"{1e3 * one.cycle_s:.3f}",
        "objective": lambda one: f"{1e3 * one.total_s:.3f}",
        "note": lambda one: "" if one.allowed else "excluded by the cache",
    }
    rows: list[Choice] = [found.before, *found.choices[:most]]
    return terminal.listed(rows, columns, title=f"Redistribution for {words(found)}, ms", left=["note"])


def words(found: Decision) -> str:
    """A phrase for the objective."""
    solve = f"{found.iterations} cycles"
    return {"solve": solve, "setup": "the set-up", "both": f"the set-up and {solve}"}[found.objective]
