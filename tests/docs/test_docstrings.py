"""The examples in docstrings run, and every public name of the package has one.

They run in copies of a directory that is made by the page `docs/api-examples.md`, as a reader would make it,
with nothing in hand but `import odonata`.
"""

from __future__ import annotations

import doctest
import fcntl
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import types
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest
import slurm_recordings
from pages import ROOT, follow

import odonata

FILES = "docs/api-examples.md"
PACKAGE = ROOT / "python/odonata"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules() -> list[types.ModuleType]:
    """The modules that have examples; others may need packages that are optional."""
    found = ["odonata", *(module.name for module in pkgutil.walk_packages([str(PACKAGE)], "odonata."))]
    return [importlib.import_module(name) for name in found if ">>>" in source_of(name)]


def source_of(name: str) -> str:
    path = PACKAGE.parent / Path(*name.split("."))
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if file.is_file():
            return file.read_text()
    return ""  # compiled


@cache
def examples() -> dict[str, doctest.DocTest]:
    """The docstrings with examples, by their names, and apart from what their modules import."""
    finder = doctest.DocTestFinder()
    globs = {"odonata": odonata}
    found = [test for module in modules() for test in finder.find(module, globs=globs) if test.examples]
    return {test.name: test for test in found}


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the page, made once, by the first of the workers that needs it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    directory = shared / "api"
    with (shared / "api.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not directory.exists():
            follow(FILES, tmp_path_factory.mktemp("making")).rename(directory)
    return directory


@pytest.mark.slow
@pytest.mark.parametrize("name", examples())
def test_an_example_shows_what_it_returns(
    name: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    slurm = slurm_recordings.install(tmp_path / "slurm")
    monkeypatch.setenv("PATH", f"{slurm}{os.pathsep}{os.environ['PATH']}")
    test = examples()[name]
    assert not any(doctest.SKIP in example.options for example in test.examples), (
        "an example is never left out"
    )
    said: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False)
    assert not said, "".join(said)


def public() -> Iterator[tuple[str, Any]]:
    """What the package, `analysis`, `importers` and `plot` export, and the classes of what all these give."""
    spaces = (odonata, odonata.analysis, odonata.importers, odonata.plot)
    waiting = [getattr(space, name) for space in spaces for name in space.__all__]
    classes = {
        value.__name__: value
        for module in [importlib.import_module(name) for name in sorted(loaded())]
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__
    }
    seen: dict[str, Any] = {}
    while waiting:
        value = waiting.pop()
        name = f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', None)}"
        if not (inspect.isclass(value) or inspect.isfunction(value)) or name in seen:
            continue
        seen[name] = value
        waiting += [
            classes[word] for text in given(value) for word in re.findall(r"\w+", text) if word in classes
        ]
    yield from sorted(seen.items())


def loaded() -> list[str]:
    return [module.__name__ for module in modules()] + ["odonata.plot.run_plots"]


def given(value: Any) -> Iterator[str]:
    """The annotations of what a function returns, or of what a class has and its methods return."""
    if inspect.isfunction(value):
        yield str(value.__annotations__.get("return", ""))
        return
    yield from (str(kind) for name, kind in getattr(value, "__annotations__", {}).items() if name[0] != "_")
    for _, member in members(value):
        yield from given(member)


def members(kind: type) -> Iterator[tuple[str, types.FunctionType]]:
    """What a class has of ours that does not begin with an underscore, as functions."""
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        for place in ("func", "fget", "__func__"):  # of a cached property, a property, a class method
            member = getattr(member, place, member)
        if name[0] != "_" and inspect.isfunction(member) and member.__module__.startswith("odonata."):
            yield name, member


def shown(value: Any) -> str:
    """The examples of a function, or of a class with what it inherits and of their methods, as text."""
    homes = [f"{kind.__module__}.{kind.__qualname__}" for kind in getattr(value, "__mro__", [value])]
    return "".join(
        example.source
        for name, test in examples().items()
        if name in homes or name.rpartition(".")[0] in homes
        for example in test.examples
    )


PUBLIC = dict(public())


def test_what_is_public_is_found() -> None:
    """Among it what is only returned: of a function, of a property, and what an attribute holds."""
    for name in (
        "odonata.api.run",
        "odonata.analysis.hottest.hottest_links",
        "odonata.plot.run_plots.RunPlots",
        "odonata.explanation.answer.Explanation",
        "odonata.explanation.against.Difference",
        "odonata.analysis.compare.LinkPairs",
    ):
        assert name in PUBLIC
    assert "odonata.api.run_until_interrupted" not in PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example(name: str) -> None:
    value = PUBLIC[name]
    text = shown(value)
    assert text, f"{name} has no example in its docstring"
    if inspect.isclass(value) and not issubclass(value, Exception):
        read = property | cached_property
        methods = [
            name for name, _ in members(value) if not isinstance(inspect.getattr_static(value, name), read)
        ]
        missing = [name for name in methods if f".{name}(" not in text]
        assert not missing, f"no example of {name} calls {', '.join(missing)}"
