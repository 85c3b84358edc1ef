"""Additions of `make site` to MkDocs: pages outside `docs`, links to sources, the package's reference.

Pages link to each other as files of the repository, which works there and in any viewer of it. On the site, a
link to a page becomes a link of the site, and a link to another file becomes only its name.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import api_pages
import notebook_pages
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = ("CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "vmpi/README.md")
FOLDERS = ("studies/*/*.md", "studies/*/*.png", "studies/*/*.svg", "benches/results/*.md")
ASSETS = ("iframe-worker.js", "site.css")
HOME, DEMO = "README.md", "demo.html"
FRAME = (
    f'<iframe src="{DEMO}" title="The viewer with the run of the demo" loading="lazy" '
    'style="width: 100%; height: 36rem; border: 1px solid #8888"></iframe>\n\n'
    f'<a href="{DEMO}">Open the viewer in a page of its own</a>'
)
"""What the home page also shows after `make demo`."""
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
VERDICTS = {"reproduced": "reproduced", "partly": "partly reproduced", "not": "not reproduced"}

VERSIONS = "odonata-versions"
"""Placeholder in the page footer for the address of the list of versions."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Every page says of which version it is, and the side bar has the pages on the Python package."""
    import odonata

    reference = next(part["Reference"] for part in config.nav if "Reference" in part)
    reference[reference.index(api_pages.INDEX)] = {"Python": api_pages.nav()}

    config.site_name = f"Odonata {odonata.__version__}"
    others = f'<a href="{VERSIONS}">other versions</a>'
    config.copyright = f"{config.copyright} · documentation of version {odonata.__version__} · {others}"
    return config


def on_post_page(output: str, *, page: Page, **_: Any) -> str:
    up = "../" * (page.url.count("/") + 1)
    return output.replace(f'href="{VERSIONS}"', f'href="{up}index.html"')


def on_post_template(output: str, **_: Any) -> str:
    """The page of what is not found, which lies on top of the others."""
    return output.replace(f'href="{VERSIONS}"', 'href="../index.html"')


def on_post_build(config: MkDocsConfig) -> None:
    """The versions whose sites are in the same directory, the newest first."""
    site = Path(config.site_dir).parent
    found = [path.parent.name for path in site.glob("[0-9]*.[0-9]*/index.html")]
    found.sort(key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    lines = "".join(f'<li><a href="{name}/index.html">Odonata {name}</a></li>' for name in found)
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Odonata</title>'
    look = "<style>body { font: 1.1rem sans-serif; margin: 3rem }</style>"
    text = f"{head}{look}<h1>Documentation of Odonata</h1><ul>{lines}</ul></html>\n"
    (site / "index.html").write_text(text, encoding="utf-8")


def of_repository(uri: str) -> str:
    """The file of the repository behind a page."""
    return uri if (ROOT / uri).is_file() and not (ROOT / "docs" / uri).is_file() else f"docs/{uri}"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    outside = [
        *OUTSIDE,
        *(str(path.relative_to(ROOT)) for glob in FOLDERS for path in sorted(ROOT.glob(glob))),
    ]
    for uri in outside:
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / uri)))
    for uri, text in api_pages.pages().items():
        files.append(File.generated(config, uri, content=text))
    for path in notebook_pages.notebooks():
        text, pictures = notebook_pages.page(path)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    for study in sorted(ROOT.glob("studies/*/study.toml")):
        results = results_of(study.parent.name)
        for picture in sorted(results.glob("figures/*.png")) if results else []:
            uri = f"studies/{study.parent.name}/figures/{picture.name}"
            files.append(File.generated(config, uri, abs_src_path=str(picture)))
    demo = ROOT / "runs" / DEMO
    if demo.is_file():
        files.append(File.generated(config, DEMO, abs_src_path=str(demo)))
    for name in ASSETS:
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(ROOT / "scripts" / name)))
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_: Any) -> str:
    uri = page.file.src_uri
    if uri in api_pages.pages():
        return markdown
    if uri == HOME and files.get_file_from_path(DEMO) is not None:
        markdown = with_viewer(markdown)
    found = re.fullmatch(r"studies/(.*)/page\.md", uri)
    if found:
        markdown = of_study(found[1], markdown)
    here = posixpath.dirname(of_repository(uri))
    parts = re.split(r"(^```.*?^```\s*$)", markdown, flags=re.MULTILINE | re.DOTALL)
    for i in range(0, len(parts), 2):
        parts[i] = LINK.sub(lambda found: relinked(found, here, uri, files), parts[i])
    return "".join(parts)


def with_viewer(markdown: str) -> str:
    """The home page with the viewer above the list of all pages, so that the lines to install stay on top."""
    return markdown.replace("## All pages\n", f"## Look at a run\n\n{FRAME}\n\n## All pages\n", 1)


def results_of(name: str) -> Path | None:
    """Results of a study: in full, as stored with it, or in the quick form of `make examples`."""
    places = (
        ROOT / "runs/studies" / name,
        ROOT / "studies" / name / "results",
        ROOT / f"build/studies/{name}-quick",
    )
    return next((place for place in places if (place / "page.md").is_file()), None)


def of_study(name: str, text: str) -> str:
    """A study's page with the results that lie here; else the claims and what a run has to find."""
    results = results_of(name)
    if results is not None:
        return (results / "page.md").read_text(encoding="utf-8")
    from odonata import toml

    study = toml.parse((ROOT / f"studies/{name}/study.toml").read_text())
    claims = {claim["name"]: claim for claim in study.get("claim", [])}
    captions = {
        (kind, one["name"]): one["caption"] for kind in ("table", "figure") for one in study.get(kind, [])
    }

    def claim_line(claim: dict[str, Any]) -> str:
        why = f": {claim['why']}" if "why" in claim else ""
        verdict = VERDICTS[claim.get("expect", "reproduced")]
        return f"- {claim['says']} ({claim['source']}). *Expected: {verdict}*{why}"

    def expanded(found: re.Match[str]) -> str:
        kind, *names = found[1].split()
        if kind == "claims":
            return "\n".join(claim_line(claims[one]) for one in names)
        if kind == "verdicts":
            made = f"`odonata study run {name}` writes this page with its results"
            return f"It was not run where these pages were made: {made}; a worse verdict than expected fails."
        return "\n\n".join(f"*{kind.capitalize()}: {captions[kind, one]}*" for one in names)

    return f"# {study['title']}\n\n{study['about']}\n\n" + re.sub(
        r"^\{(\w+[^}]*)\}$", expanded, text, flags=re.MULTILINE
    )


def relinked(found: re.Match[str], here: str, uri: str, files: Files) -> str:
    whole, (image, text, target) = found[0], found.groups()
    if re.match(r"[a-z]+:|#", target):
        return whole
    path, _, anchor = target.partition("#")
    wanted = posixpath.normpath(posixpath.join(here, path))
    if (ROOT / wanted / "README.md").is_file():
        wanted += "/README.md"
    page: Any = wanted.removeprefix("docs/") if wanted.startswith("docs/") else wanted
    page = re.sub(r"\.ipynb$", ".md", page)
    if wanted == "studies":
        page = "studies/edison/page.md"
    if files.get_file_from_path(page) is not None:
        link = posixpath.relpath(page, posixpath.dirname(uri) or ".")
        return f"{image}[{text}]({link}{'#' + anchor if anchor else ''})"
    # Sources and examples are not on the site. What does not exist stays, and MkDocs says so.
    return text if (ROOT / wanted).exists() and not image else whole
