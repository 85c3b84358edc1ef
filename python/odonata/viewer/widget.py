"""The viewer in a notebook: `run.view()`."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from odonata.errors import OdonataError
from odonata.viewer.export import embedded
from odonata.viewer.runs import OpenRuns
from odonata.viewer.server import page_files

Still = Callable[[], tuple[bytes | None, str]]
"""Returns a PNG (or None) and HTML."""


def widget(runs: OpenRuns, still: Still) -> Any:
    """A notebook widget with the data of its runs, so a saved notebook shows them too.

    Args:
        runs: Runs to show.
        still: Fallback for viewers without scripts, such as GitHub and nbviewer. It is created when the
            cell is displayed, and saved with the widget.

    Raises:
        OdonataError: anywidget is not installed.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise OdonataError(
            "the notebook widget needs anywidget", hint="Install it: pip install 'odonata[notebook]'"
        ) from None
    files = page_files()

    class RunView(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore] # untyped where it is not installed
        """The viewer."""

        _esm = files["viewer.js"].decode()
        _css = files["viewer.css"].decode()
        data = traitlets.Dict().tag(sync=True)

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            """The widget, plus a picture and tables for notebooks without a kernel."""
            bundle = super()._repr_mimebundle_(**kwargs)
            if bundle is None:
                return None
            shown, metadata = bundle
            picture, page = still()
            images = {} if picture is None else {"image/png": base64.b64encode(picture).decode()}
            return {**shown, "text/html": page, **images}, metadata

    return RunView(data=embedded(runs))
