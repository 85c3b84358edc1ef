"""Studies: what `study.toml` may say, how claims are judged, and that points are kept."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from running import Command

from odonata.errors import OdonataError
from odonata.studies import Results, available, check_up_to_date, count_finished, load, report, run_study
from odonata.studies.expand import Part

ROOT = Path(__file__).parents[2]

HEAD = """
title = "A study"
about = "What it asks."
[source]
book = "A book"
"""

NUMBERS = """
import pandas as pd

def numbers(results):
    return pd.DataFrame({
        "what": ["a", "a", "b", "b"],
        "seed": [1, 2, 1, 2],
        "time": [10.0, 12.0, 11.0, 15.0],
        "said": [11.0, 11.0, 20.0, 20.0],
    })

def wrong(results):
    return numbers(results)["nothing"]

def by_hand(results):
    from odonata.studies import Finding
    return [Finding("one", "1", True), Finding("two", "2", False)]
"""


def folder(tmp_path: Path, text: str, functions: str = NUMBERS) -> Path:
    made = tmp_path / "study"
    made.mkdir(exist_ok=True)
    (made / "study.toml").write_text(HEAD + text)
    (made / "study.py").write_text(functions)
    return made


def claim(keys: str, name: str = "c") -> str:
    return f'[[claim]]\nname = "{name}"\nsays = "So it is"\nsource = "book, page 1"\n{keys}\n'


def judged(tmp_path: Path, keys: str) -> list[tuple[str, str, bool]]:
    """The findings of a claim over the table `numbers`."""
    text = '[derived]\nnumbers = "numbers"\n' + claim(f'table = "numbers"\n{keys}')
    results = Results(load(folder(tmp_path, text)), tmp_path / "out")
    (verdict,) = report(results).verdicts
    return [(finding.label, finding.found, finding.holds) for finding in verdict.findings]


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        # The mean of 10, 12, 11 and 15 is 12.
        ('value = "time"\nabove = 11.9', [("", "12, above 11.9", True)]),
        ('value = "time"\nbelow = 12', [("", "12, not below 12", False)]),
        ('value = "time"\nstatistic = "max"\nbetween = [15, 16]', [("", "15, between 15 and 16", True)]),
        # a: 11 for 11; b: 13 for 20 is 35 % less.
        (
            'value = "time"\neach = ["what"]\nreference = "said"\ntolerance = 0.3',
            [
                ("a", "11 for 11, +0 %, tolerance 30 %", True),
                ("b", "13 for 20, -35 %, tolerance 30 %", False),
            ],
        ),
        # Seed by seed: 11 / 10 - 1 = 10 %, 15 / 12 - 1 = 25 %; their mean is 17.5 %.
        (
            'value = "time"\nwhere = { what = "b" }\nagainst = { what = "a" }\nbelow = 0.2',
            [("", "+17.5 %, below +20.0 %", True)],
        ),
        # With other rows on the other side, of the same seed: 11 and 15 against twice 10 and 12.
        (
            """value = "time"\nwhere = { what = "b" }\neach = ["seed"]
            below = { where = { what = "a" }, times = 1.2 }""",
            [("seed 1", "11, below 12", True), ("seed 2", "15, not below 14.4", False)],
        ),
        (
            'value = "time"\neach = ["what"]\nrises_along = "seed"',
            [("a", "10 at 1, 12 at 2", True), ("b", "11 at 1, 15 at 2", True)],
        ),
        (
            'value = "time"\neach = "what"\nfalls_along = "seed"',
            [("a", "10 at 1, 12 at 2", False), ("b", "11 at 1, 15 at 2", False)],
        ),
        (
            'value = "time"\nunit = "%"\nwhere = { seed = [2], what = "a" }\nabove = 0',
            [("", "1,200 %, above 0 %", True)],
        ),
    ],
)
def test_a_claim_by_hand(tmp_path: Path, keys: str, found: list[tuple[str, str, bool]]) -> None:
    assert judged(tmp_path, keys) == found


def test_verdicts(tmp_path: Path) -> None:
    """One of two findings holds: partly, or reproduced where half of them is enough, if the form is full."""
    text = claim('check = "by_hand"', "strict") + claim('check = "by_hand"\nshare = 0.5', "half")
    text += claim('check = "by_hand"\nexpect = "partly"\nwhy = "Two is too much."', "known")
    made = report(Results(load(folder(tmp_path, text)), tmp_path / "out"))
    assert [verdict.word for verdict in made.verdicts] == ["partly", "reproduced", "partly"]
    assert [verdict.as_expected for verdict in made.verdicts] == [False, True, True]
    assert made.verdicts[0].reason() == "1 of 2 hold; two: 2"
    assert not made.as_expected
    page = (tmp_path / "out" / "page.md").read_text()
    assert "| So it is | book, page 1 | **partly** | 1 of 2 hold; two: 2 *Two is too much.* |" in page
    written = json.loads((tmp_path / "out" / "verdicts.json").read_text())
    assert [entry["verdict"] for entry in written["claims"]] == ["partly", "reproduced", "partly"]
    text = claim('check = "by_hand"\nshare = 0.5\nexpect = "partly"\nwhy = "Two is too much."')
    forms = (load(folder(tmp_path, text), quick=quick) for quick in (False, True))
    found = [report(Results(form, tmp_path / f"out-{form.quick}")).verdicts[0].word for form in forms]
    assert found == ["reproduced", "partly"]
    pages = [(tmp_path / f"out-{quick}" / "page.md").read_text() for quick in (False, True)]
    assert ["Quick form: fewer points than the full study." in page for page in pages] == [False, True]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('value = "time"\nabove = 1\nbelow = 2', "compared with above and below"),
        ('value = "time"', "compared with nothing"),
        ('value = "tim"\nabove = 1', "no column tim\nDid you mean time?"),
        ('value = "time"\nabove = 1\nstatistic = "average"', "unknown statistic 'average'"),
        ('value = "time"\nabove = 1\nwere = {}', "claim c: unknown key were\nDid you mean where?"),
        ('value = "time"\nabove = 1\nwhere = { what = "c" }', "no row has what = 'c'"),
        (
            'value = "time"\nabove = 1\nwhere = { what = "a", seed = { column = "time" } }',
            "has no row with time",
        ),
        ('value = "time"\nabove = "much"', "no column much"),
        ('value = "time"\nabove = true', "expected a number or a text or a table"),
        ('value = "time"\nabove = 1\nexpect = "partly"', "give the reason in the key why"),
        ('value = "time"\nabove = 1\nunit = "MB"', "unknown unit 'MB'\nDid you mean MiB?"),
        ('value = "time"\nreference = 1', "the key tolerance is missing"),
        ('value = "time"\nwhere = { what = "a", seed = 1 }\nrises_along = "seed"', "only one value of seed"),
        ('value = "time"\nabove = 1\nagainst = { seed = 1, what = "a", said = 20.0 }', "has no row"),
    ],
)
def test_mistakes_in_a_claim_are_named(tmp_path: Path, keys: str, message: str) -> None:
    with pytest.raises(OdonataError) as caught:
        judged(tmp_path, keys)
    assert message in str(caught.value)
    assert "claim c" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[experimnt.x]\nfile = 'x.toml'", "unknown key experimnt\nDid you mean experiment?"),
        ("[experiment.x]\nfil = 'x.toml'", "experiment x: the key file is missing"),
        ("[experiment.x]\nfile = 3", "file is 3, expected a text or a table"),
        ("[experiment.x]\nfile = 'x.toml'\nsweep.engine.seed = [1]", 'in quotes: sweep = { "engine.seed"'),
        ("[experiment.x]\nfile = 'x.toml'\nvariants.a = []", "variants.a is [], expected a table of choices"),
        ("[experiment.x]\nfile = 'x.toml'\nquik = false", "unknown key quik\nDid you mean quick?"),
        ("[[claim]]\nsays = 'x'", "[[claim]] number 1 has no name"),
        (claim("check = 'f'").replace("book,", "bok,"), "unknown source 'bok'\nDid you mean book?"),
        (claim("check = 'by_hnd'"), "no function by_hnd\nDid you mean by_hand?"),
        (claim("check = 'wrong'"), "study.py:13: wrong: KeyError: 'nothing'"),
        ("book = 'again'", "is not valid TOML"),
        (
            "[[figure]]\nname = 'f'\ncaption = 'F'\ndraw = 'traffic-bar'",
            "no function traffic-bar",
        ),
        (
            "[[figure]]\nname = 'f'\ncaption = 'F'\ndraw = 'traffic-bars'\ngroup = 'x'",
            "traffic-bars has no key group\nDid you mean groups?",
        ),
    ],
)
def test_mistakes_in_a_study_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(OdonataError) as caught:
        report(Results(load(folder(tmp_path, text)), tmp_path / "out"))
    assert message in str(caught.value)


EXPERIMENT = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 3
[[job]]
name = "a"
pattern = "uniform"
ranks = 8
ranks_per_node = 1
[[job]]
name = "b"
pattern = "transpose"
ranks = 9
ranks_per_node = 1
[engine]
kind = "flow"
[sweep]
engine.seed = [1, 2]
"""

STUDY = """
[experiment.x]
file = { one = "one.toml", two = "two.toml" }
alone = ["a"]
variants.cables = { all = {}, less = { "machine.class.global.bandwidth" = "10 GB/s" } }
set = { "job.b.bytes" = "2 KiB" }
quick = { file = ["two"], cables = ["less"], "engine.seed" = [7], "job.a.bytes" = "1 KiB" }

[[table]]
name = "t"
caption = "Mean traffic"
table = "x.traffic"
where = { class = "all", job = "all jobs" }
rows = ["file", "cables"]
columns = "alone"
values = [{ column = "bytes_mean", unit = "KiB" }]

[[figure]]
name = "f"
caption = "Bars"
draw = "traffic-bars"
table = "x.traffic"
groups = "class"
series = "alone"

[[claim]]
name = "less-alone"
says = "Alone a job leaves links emptier"
source = "book"
table = "x.traffic"
where = { class = "all", job = "all jobs", alone = "a" }
value = "bytes_mean"
each = ["file", "cables", "engine.seed"]
below = { where = { alone = "together" } }

[[claim]]
name = "only-in-full"
says = "All seeds"
source = "book"
table = "x.traffic"
value = "bytes_mean"
above = 0
quick = false
"""


def small_study(tmp_path: Path) -> Path:
    made = folder(tmp_path, STUDY)
    for name in ("one", "two"):
        (made / f"{name}.toml").write_text(EXPERIMENT)
    (made / "page.md").write_text("{verdicts}\n\n{claims only-in-full}\n\n{table t}\n\n{figure f}\n")
    return made


def axes(part: Part) -> dict[str, tuple[object, ...]]:
    return {axis.key: axis.values for axis in part.axes}


def test_an_experiment_is_every_combination_and_the_quick_form_less(tmp_path: Path) -> None:
    made = small_study(tmp_path)
    full, quick = (Results(load(made, quick=quick), tmp_path / "out") for quick in (False, True))
    assert [part.name for part in full.parts] == ["x-one", "x-two"]
    assert axes(full.parts[0]) == {
        "cables": ("all", "less"),
        "alone": ("together", "a"),
        "engine.seed": (1, 2),
    }
    (part,) = quick.parts
    assert axes(part) == {"cables": ("less",), "alone": ("together", "a"), "engine.seed": (7,)}
    assert set(part.sweep.overrides) == {'job.b.bytes="2 KiB"', 'job.a.bytes="1 KiB"'}
    assert part.points[1].overrides == (
        'machine.class.global.bandwidth="10 GB/s"',
        "job.b.idle=true",
        "engine.seed=7",
    )
    assert "only-in-full" not in quick.study.claims


def test_a_study_runs_keeps_its_points_and_writes_its_page(tmp_path: Path) -> None:
    study, out = load(small_study(tmp_path), quick=True), tmp_path / "out"
    results, ran = run_study(study, out, processes=1)
    assert (ran.points, ran.kept, ran.failures) == (2, 0, ())
    made = report(results)
    assert [verdict.word for verdict in made.verdicts] == ["reproduced"]
    page = (out / "page.md").read_text()
    assert "| less-alone |" not in page
    assert "| Alone a job leaves links emptier | book | reproduced |" in page
    assert "*Not in the quick form.*" in page
    assert "![Bars](figures/f.png)\n\n*Bars*" in page
    html = (out / "page.html").read_text()
    assert html.count('<img src="data:image/png;base64,') == 1
    assert "<td>two</td>" in html
    # Alone, a sends 8 ranks' messages of 1 KiB; b sends 2 KiB per rank at the same time: the table has both.
    rows = (out / "tables" / "t.csv").read_text().splitlines()
    assert rows[0] == 'file,cables,"together, KiB","a, KiB"'
    together, alone = (float(cell) for cell in rows[1].split(",")[2:])
    assert 0 < alone < together
    shutil.rmtree(out / "x-two" / "points" / results.parts[0].points[0].name)
    again, ran = run_study(study, out, processes=1)
    assert (ran.points, ran.kept) == (2, 1)
    assert report(again).verdicts == made.verdicts
    for name in ("x.traffic", "x.jobs"):
        table = again.table(name)
        assert not table.frame.duplicated(list(table.keys)).any(), "keys identify a row"
    sent = again.run("x", {"alone": "a"}).jobs["bytes"].to_pylist()
    assert sent == [8 * 16 * 1024.0, 0.0], "b is idle; a sends 16 messages per rank"
    with pytest.raises(OdonataError, match=r"2 points of experiment x have \{\}, expected one"):
        again.run("x")


def test_some_points_run_and_what_needs_the_others_is_left_open(tmp_path: Path) -> None:
    """Job a has run alone with seed 2: the claim on both together finds no base, the one on all runs does."""
    study, out = load(small_study(tmp_path)), tmp_path / "out"
    only = {"alone": ["a"], "engine.seed": ["2"]}
    results, ran = run_study(study, out, only=only, processes=1)
    assert (ran.points, ran.kept) == (4, 0), "two files, two cablings"
    made = report(results, unfinished=True)
    assert {v.claim.name: v.word for v in made.verdicts} == {
        "less-alone": "not measured",
        "only-in-full": "reproduced",
    }
    assert made.as_expected
    page = (out / "page.md").read_text()
    assert "Unfinished: 4 of 16 points have run." in page
    assert "| Alone a job leaves links emptier | book | not measured | none of its points is finished" in page
    with pytest.raises(OdonataError, match="no row has alone = 'together'"):
        report(results)
    # A word that no row could ever have is still a mistake.
    text = (tmp_path / "study" / "study.toml").read_text()
    (tmp_path / "study" / "study.toml").write_text(
        text.replace('value = "bytes_mean"', 'value = "bytes_men"')
    )
    with pytest.raises(OdonataError, match="no column bytes_men"):
        report(Results(load(tmp_path / "study"), out), unfinished=True)


def test_of_an_unfinished_study_a_table_of_missing_rows_is_left_open(tmp_path: Path) -> None:
    """The table compares rows of two points of an experiment, of which none has run."""
    text = claim('table = "gains"\nvalue = "time"\nwhere = { what = "a" }\nabove = 0')
    made = folder(tmp_path, '[derived]\nnumbers = "numbers"\ngains = "gains"\n' + text)
    gains = """
def gains(results):
    times = numbers(results).iloc[:0].pivot(index="seed", columns="what", values="time")
    return (times["a"] / times["b"]).rename("time").reset_index()
"""
    (made / "study.py").write_text(f"{NUMBERS}\n{gains}")
    verdicts = report(Results(load(made), tmp_path / "out"), unfinished=True).verdicts
    assert [verdict.word for verdict in verdicts] == ["not measured"]
    with pytest.raises(OdonataError, match="KeyError: 'a'"):
        report(Results(load(made), tmp_path / "out"))


def test_of_an_unfinished_study_the_findings_that_can_be_made_are(tmp_path: Path) -> None:
    """Rows a and b are there, c is not; seed 2 has nothing to be held against."""
    text = claim(
        'table = "numbers"\nvalue = "time"\nwhere = { what = ["a", "b", "c"] }\neach = ["what"]\nabove = 12'
    )
    text += claim(
        """table = "some"\nvalue = "time"\nwhere = { what = "b" }\neach = ["seed"]
        above = { where = { what = "a" } }""",
        "held",
    )
    made = folder(tmp_path, '[derived]\nnumbers = "numbers"\nsome = "some"\n' + text)
    some = "def some(results):\n    return numbers(results).iloc[[0, 2, 3]]\n"
    (made / "study.py").write_text(f"{NUMBERS}\n{some}")
    results = Results(load(made), tmp_path / "out")
    with pytest.raises(OdonataError, match="no row has what = 'c'"):
        report(results)
    verdicts = report(Results(load(made), tmp_path / "out"), unfinished=True).verdicts
    assert [finding.label for finding in verdicts[0].findings] == ["a", "b"]
    assert [(finding.label, finding.holds) for finding in verdicts[1].findings] == [("seed 1", True)]


@pytest.mark.slow
def test_a_point_that_was_stopped_counts_as_one_that_has_not_run(tmp_path: Path) -> None:
    """Not as one of another version, whether the rest is run on or reported."""
    made = small_study(tmp_path)
    out = tmp_path / "out"
    results, _ = run_study(load(made), out)
    check_up_to_date(results)
    summary = next(out.glob("*/points/*/summary.json"))
    summary.write_text(summary.read_text().replace('"ending": "complete"', '"ending": "interrupted"'))
    check_up_to_date(Results(load(made), out))
    done, total = count_finished(Results(load(made), out))
    assert done == total - 1
    summary.write_text(summary.read_text().replace('"ending": "interrupted"', '"ending": "complete"'))
    resolved = summary.with_name("resolved.toml")
    resolved.write_text(resolved.read_text() + "# other")
    with pytest.raises(OdonataError, match="is not up to date with this version"):
        check_up_to_date(Results(load(made), out))


def test_a_study_of_which_nothing_has_run_has_an_open_page(tmp_path: Path) -> None:
    made = report(Results(load(small_study(tmp_path)), tmp_path / "out"), unfinished=True)
    assert {verdict.word for verdict in made.verdicts} == {"not measured"}
    page = (tmp_path / "out" / "page.md").read_text()
    assert page.count("*Not measured.*") == 2, "the table and the figure"


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ({"alon": ["a"]}, "study has no axis alon\nDid you mean alone? The axes are experiment, "),
        ({"alone": ["c"]}, "no point of study has alone = c"),
        ({"experiment": ["y"]}, "no point of study has experiment = y"),
    ],
)
def test_points_that_are_not_there_are_named(
    tmp_path: Path, only: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(OdonataError) as caught:
        run_study(load(small_study(tmp_path)), tmp_path / "out", only=only)
    assert message in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def study(odonata_command: Command) -> Command:
    """Runs `odonata study` with arguments."""
    return functools.partial(odonata_command, "study")


@pytest.mark.slow
def test_the_commands(study: Command, tmp_path: Path) -> None:
    made = small_study(tmp_path)
    some = study("run", made, "--quick", "--only", "alone=a", "-j", 1, cwd=tmp_path)
    assert some.returncode == 0, some.stderr
    assert "1 point: 1 run, 0 already finished" in some.stdout
    assert "1 not measured" in some.stdout
    assert study("report", made, "--quick", "--unfinished", cwd=tmp_path).returncode == 0
    wrong = study("run", made, "--only", "alone", cwd=tmp_path)
    assert (wrong.returncode, "expected KEY=VALUES" in wrong.stderr) == (2, True)
    missing = study("report", made, "--quick", cwd=tmp_path)
    assert missing.returncode == 2
    assert "1 of the 2 points of study are not finished" in missing.stderr
    ran = study("run", made, "--quick", "-j", 1, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "2 points: 1 run, 1 already finished" in ran.stdout
    assert "1 reproduced" in ran.stdout
    reported = study("report", "study", "--studies", tmp_path, "--quick", cwd=tmp_path)
    assert reported.returncode == 0, reported.stderr
    listed = study("list", "--studies", tmp_path, "--quick", "--json", cwd=tmp_path)
    (row,) = json.loads(listed.stdout)
    assert row == {"study": "study", "title": "A study", "claims": 1, "points": 2, "finished": 2}
    text = (made / "study.toml").read_text()
    (made / "study.toml").write_text(text.replace("below = { where", "above = { where"))
    worse = study("report", made, "--quick", cwd=tmp_path)
    assert worse.returncode == 1
    assert "1 worse than expected" in worse.stdout
    unknown = study("run", "studdy", "--studies", tmp_path, cwd=tmp_path)
    assert unknown.returncode == 2
    assert "Did you mean study?" in unknown.stderr


@pytest.mark.parametrize("path", available(ROOT / "studies"), ids=lambda path: path.parent.name)
@pytest.mark.parametrize("quick", [True, False])
def test_the_studies_here_can_be_read(path: Path, quick: bool, tmp_path: Path) -> None:
    """Their experiments and axes; that every point can be run is checked by the runner before the first."""
    results = Results(load(path.parent, quick=quick), tmp_path)
    assert results.parts
    assert len({part.name for part in results.parts}) == len(results.parts)


@pytest.mark.slow
def test_a_killed_study_resumes(tmp_path: Path) -> None:
    made = small_study(tmp_path)
    out = tmp_path / "out"
    running = subprocess.Popen(
        [sys.executable, "-m", "odonata", "study", "run", made, "-j", "1", "-o", out],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    points = out / "study" / "x-one" / "points"
    while running.poll() is None and not list(points.glob("[!.]*/summary.json")):
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert not (out / "study" / "verdicts.json").exists(), "killed in the middle"
    results, ran = run_study(load(made), out / "study", processes=1)
    assert ran.points == 16
    assert 1 <= ran.kept < 16
    assert [verdict.word for verdict in report(results).verdicts] == ["reproduced", "reproduced"]
