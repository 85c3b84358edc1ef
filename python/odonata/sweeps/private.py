"""A Dask scheduler and workers that refuse other users of the machine.

Dask executes the messages that it receives, so they need TLS. Each side shows a certificate of the one pair
of keys that this process made. The web pages of Dask ask for no key, so these classes open no port for them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Nanny, Scheduler, Worker
from distributed.security import Security

from odonata.sweeps import tls

# Here, since our schedulers and workers import this module. A client of another scheduler does so itself.
tls.forget_errors_of_closed_connections()

_ROLES = ("client", "scheduler", "worker")
_KEY_FIELDS = ("tls_ca_file", *(f"tls_{role}_{part}" for role in _ROLES for part in ("cert", "key")))


class PrivateScheduler(Scheduler):
    """A scheduler without web pages."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Opens no port."""


class PrivateWorker(Worker):
    """A worker without web pages."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Opens no port."""


def local_nodes(count: int, options: dict[str, Any], security: Security) -> dict[str, Any]:
    """Arguments of `SpecCluster` for a scheduler and `count` worker processes on this machine.

    Args:
        count: Number of workers; each has one thread.
        options: Further options of the workers.
        security: Keys of scheduler and workers.
    """
    address = {"host": "127.0.0.1", "protocol": "tls", "security": security}
    worker = {
        "cls": Nanny,
        "options": {
            "nthreads": 1,
            "worker_class": PrivateWorker,
            "dashboard_address": None,
            **address,
            **options,
        },
    }
    return {
        "scheduler": {"cls": PrivateScheduler, "options": {"port": 0, "dashboard": False, **address}},
        "workers": dict.fromkeys(range(count), worker),
        "security": security,
    }


@contextmanager
def stored_keys(logs: Path) -> Iterator[Security]:
    """Keys for batch workers in files that only this user can read; they are removed at the end.

    The files are next to the logs, since batch jobs see that file system.
    """
    logs.mkdir(parents=True, exist_ok=True)
    # `TemporaryDirectory` creates it with mode 0700.
    with tempfile.TemporaryDirectory(prefix=".keys-", dir=logs) as folder:
        made = Security.temporary()
        files = {name: Path(folder).absolute() / f"{name}.pem" for name in _KEY_FIELDS}
        for name, file in files.items():
            file.write_text(getattr(made, name))
        yield Security(require_encryption=True, **{name: str(file) for name, file in files.items()})
