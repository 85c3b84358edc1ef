"""The viewer in a notebook: `run.view()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.errors import OdonataError
from odonata.viewer.export import embedded
from odonata.viewer.runs import OpenRuns
from odonata.viewer.server import page_files

if TYPE_CHECKING:
    from odonata.store import RunData


def widget(run: RunData) -> Any:
    """A notebook widget that shows a run; it holds the data, so a saved notebook shows it too.

    Raises:
        OdonataError: anywidget is not installed.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise OdonataError(
            "run.view() needs anywidget", hint="Install it: pip install 'odonata[notebook]'"
        ) from None
    files = page_files()

    class RunView(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore] # untyped where it is not installed
        """The viewer with one run."""

        _esm = files["viewer.js"].decode()
        _css = files["viewer.css"].decode()
        data = traitlets.Dict().tag(sync=True)

    return RunView(data=embedded(OpenRuns.from_run(run)))
