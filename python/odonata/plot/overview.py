"""An overview of a run in one figure."""

from __future__ import annotations

import textwrap

from odonata.analysis.headline import headline
from odonata.analysis.links import class_names
from odonata.plot import style
from odonata.plot.bars import legend_entries
from odonata.plot.groups import draw_groups, has_groups
from odonata.plot.jobs import draw_jobs
from odonata.plot.links import draw_links
from odonata.quantity import counted
from odonata.store.run import RunData


def plot_overview(run: RunData) -> style.Picture:
    """All links by class and job, bars per class and job, and the heat map of groups.

    Args:
        run: A run with traffic on its links.

    Examples:
        >>> odonata.plot.plot_overview(odonata.load("runs/both")).savefig("overview.png")
    """
    classes = class_names(run.links)
    summary = run.summary
    with style.figure_style():
        picture = style.new_picture(12.4, 8.2)
        # A class could have the colour of a job, so only jobs have colours here.
        above, below = picture.subfigures(2, 1, squeeze=False, height_ratios=[1, 1.2])[:, 0]
        panels = above.subplots(1, len(classes), sharey=True, squeeze=False)[0]
        draw_links(list(panels), run.links, run.link_jobs, run.jobs)
        handles, labels = panels[0].get_legend_handles_labels()
        above.legend(handles, labels, loc="outside right upper", title="job", alignment="left")
        grouped = has_groups(run.routers)
        ratios = [1.45, 1] if grouped else [1]
        left, *right = below.subfigures(1, len(ratios), squeeze=False, width_ratios=ratios)[0]
        series = draw_jobs(left.subplots(), run.links, run.link_jobs, run.jobs)
        left.legend(handles=legend_entries(series), loc="outside right upper")
        for figure in right:
            draw_groups(figure.subplots(), figure, run.links, run.routers)
        jobs = len(summary["jobs"])
        of_run = (
            ("" if run.path is None else f"{run.name}: ")
            + f"{counted(jobs, 'job')} on {summary['machine']['name']}, "
            f"{summary['routing']} routing, seed {summary['seed']}"
        )
        said = textwrap.fill(str(headline(run)), style.characters(picture))
        picture.suptitle(f"{said}\n{of_run}", x=0.01, ha="left", fontsize="medium")
    return picture
