"""Running points when their sweep ends early."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from odonata.errors import OdonataError
from odonata.sweeps import remote


class RecordingClient:
    """Notes which futures it cancels; without a scheduler it must not be asked."""

    def __init__(self, status: str) -> None:
        self.status = status
        self.canceled: list[str] = []

    def cancel(self, futures: list[Any], *, force: bool) -> None:
        assert force
        assert self.status == "running"
        self.canceled += [future.key for future in futures]

    def unpublish_dataset(self, keys: list[str]) -> None:
        assert keys == self.canceled


def future(key: str) -> Any:
    return type("Future", (SimpleNamespace,), {"__hash__": object.__hash__})(key=key)


@pytest.mark.parametrize(
    ("status", "fails", "canceled"),
    [("running", True, ["a", "b"]), ("closed", True, []), ("running", False, [])],
)
def test_running_points_are_canceled_if_the_sweep_fails_and_a_scheduler_is_there(
    status: str, fails: bool, canceled: list[str]
) -> None:
    client, task = RecordingClient(status), SimpleNamespace()
    points = remote._Client(client, SimpleNamespace(), 1)  # type: ignore[arg-type]
    points._running = {future(key): (number, task, False) for number, key in enumerate("ab")}  # type: ignore[misc]
    if fails:
        with pytest.raises(OdonataError, match="lost"), points:
            raise OdonataError("lost")
    else:
        with points:
            pass
    assert client.canceled == canceled
