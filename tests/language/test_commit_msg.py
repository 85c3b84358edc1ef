"""The hook `scripts/commit-msg`."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from words.vocabulary import ROOT

HOOK = ROOT / "scripts/commit-msg"


def problems(message: str) -> list[str]:
    loader = importlib.machinery.SourceFileLoader("commit_msg", str(HOOK))
    spec = importlib.util.spec_from_loader("commit_msg", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    without, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # none beside the script
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = without
    found: list[str] = module.problems(message)
    return found


@pytest.mark.parametrize(
    "message",
    [
        "viewer: draw decreases hollow",
        "Fix a wrong unit in the table of links",
        "docs: say path instead of way\n\nOne word for one thing.\n",
        "docs, viewer: bring the terms together",
        "Address a stall under one thread",
        "Merge branch 'main' of elsewhere",
        "Seed each stream by its name\n\n# Please enter the commit message\n",
        "Focus the list after a search",
        "docs: state why min is free of deadlock",
        "transport: do not repeat a word",
    ],
)
def test_a_good_message_passes(message: str) -> None:
    assert problems(message) == []


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("What the viewer costs on a machine with nothing else to do", "'What' is no verb"),
        ("Which cables are thin", "'Which' is no verb"),
        ("viewer: added a legend", "'added' is the past"),
        ("Adds a legend", "third person"),
        ("flow: solving twice", "no imperative"),
        ("Results of the study of cables are kept beside it", "plural"),
        ("Three black cables join two routers", "'Three' is no verb"),
        ("odonata.view is public", "a sentence"),
        ("Made the tables sorted", "the past"),
        ("Add " + "x" * 70, "74 characters"),
        ("Add a legend.", "without a period"),
        ("Add a legend\nto the viewer", "second line"),
        ("", "does not start with a word"),
    ],
)
def test_a_bad_message_is_refused(message: str, why: str) -> None:
    assert why in " ".join(problems(message))


def test_git_runs_the_hook(tmp_path: Path) -> None:
    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        return subprocess.run(["git", *who, *arguments], cwd=tmp_path, capture_output=True, text=True)

    assert git("init", "--quiet").returncode == 0
    git("config", "core.hooksPath", str(HOOK.parent))
    refused = git("commit", "--allow-empty", "-m", "Added a legend")
    assert refused.returncode == 1
    assert "'Added' is the past" in refused.stderr
    assert git("commit", "--allow-empty", "-m", "Add a legend").returncode == 0
