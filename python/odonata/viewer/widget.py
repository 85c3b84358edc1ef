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
"""Makes a PNG, if there is something to draw, and HTML."""


def widget(runs: OpenRuns, still: Still) -> Any:
    """A notebook widget that shows runs; it holds the data, so a saved notebook shows them too.

    Args:
        runs: What is shown.
        still: What is shown where no script runs, as on GitHub and nbviewer: made when the cell is
            displayed, and saved beside the widget.

    Raises:
        OdonataError: anywidget is not installed.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise OdonataError(
            "a view in a notebook needs anywidget", hint="Install it: pip install 'odonata[notebook]'"
        ) from None
    files = page_files()

    class RunView(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore] # untyped where it is not installed
        """The viewer."""

        _esm = files["viewer.js"].decode()
        _css = files["viewer.css"].decode()
        data = traitlets.Dict().tag(sync=True)

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            """The widget, which notebooks that run prefer, beside a picture and tables."""
            bundle = super()._repr_mimebundle_(**kwargs)
            if bundle is None:
                return None
            shown, metadata = bundle
            picture, page = still()
            images = {} if picture is None else {"image/png": base64.b64encode(picture).decode()}
            return {**shown, "text/html": page, **images}, metadata

    return RunView(data=embedded(runs))
