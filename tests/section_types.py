"""The package `odonata.sections`: the types of an experiment's sections, written from its schema.

`ODONATA_WRITE_REFERENCE=1 pytest tests/test_experiment_class.py` writes it.
"""

from __future__ import annotations

import json
import keyword
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from odonata import _core

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "python" / "odonata" / "sections"
NOTE = "Written from the declared keys: see `tests/section_types.py`."
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
WIDTH = 105
HEAD = """
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict
"""


def sections() -> dict[str, dict[str, Any]]:
    """The rule of each section with keys of its own; of one that is repeated, the rule of one table."""
    rules = json.loads(_core.schema())["properties"]
    tables = {name: rule.get("items", rule) for name, rule in rules.items()}
    return {name: rule for name, rule in tables.items() if "properties" in rule}


def class_name(section: str) -> str:
    return "".join(word.capitalize() for word in section.split("_"))


def files() -> dict[str, str]:
    """The text of each file by its name."""
    modules = {f"{name}.py": formatted(module(name, rule)) for name, rule in sections().items()}
    names = {name: class_name(name) for name in sections()}
    imports = "\n".join(f"from odonata.sections.{name} import {kind}" for name, kind in names.items())
    listed = ", ".join(f'"{kind}"' for kind in sorted(names.values()))
    head = f'"""Types of the sections of an experiment, for editors and type checkers.\n\n{NOTE}\n"""'
    return {"__init__.py": formatted(f"{head}\n\n{imports}\n\n__all__ = [{listed}]\n"), **modules}


def module(section: str, rule: Mapping[str, Any]) -> str:
    kind, keys = class_name(section), rule["properties"]
    summary = f"Keys of the section `{section}`.\n\n{rule['description']}"
    # A name that is no identifier or a word of Python cannot stand in the body of a class.
    odd = [key for key in keys if not key.isidentifier() or keyword.iskeyword(key)]
    base = f"_{kind}" if odd else "TypedDict"
    fields = "\n".join(line for key in keys if key not in odd for line in field(key, keys[key]))
    others = ", ".join(f"{key!r}: {type_of(keys[key])}" for key in odd)
    return (
        f'"""The section `{section}` of an experiment.\n\n{NOTE}\n"""\n{HEAD}\n'
        + (f'{base} = TypedDict("{base}", {{{others}}}, total=False)\n\n' if odd else "")
        + f"class {kind}({base}, total=False):\n"
        + f"{docstring(summary)}\n\n{fields}\n"
    )


def field(key: str, rule: Mapping[str, Any]) -> Iterator[str]:
    yield f"    {key}: {type_of(rule)}"
    default = f" Default: {json.dumps(rule['default'], ensure_ascii=False)}." if "default" in rule else ""
    yield docstring(rule["description"] + default)


def docstring(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"""', "'''")
    lines = [part for line in quoted.split("\n") for part in textwrap.wrap(line, WIDTH - 8) or [""]]
    text = "\n".join(f"    {line}".rstrip() for line in lines).lstrip()
    end = "\n    " if len(lines) > 1 else ""
    return f'    """{text}{end}"""'


def type_of(rule: Mapping[str, Any]) -> str:
    """The Python type of what a rule of the schema allows."""
    if alternatives := rule.get("anyOf") or rule.get("oneOf"):
        return " | ".join(dict.fromkeys(part for one in alternatives for part in type_of(one).split(" | ")))
    if "enum" in rule:
        return f"Literal[{', '.join(json.dumps(value) for value in rule['enum'])}]"
    if "const" in rule:
        return f"Literal[{json.dumps(rule['const'])}]"
    if rule["type"] == "array":
        return f"Sequence[{type_of(rule['items'])}]" if "items" in rule else "Sequence[Any]"
    return PLAIN.get(rule["type"], "Mapping[str, Any]")


def formatted(text: str) -> str:
    for arguments in (["check", "--fix-only", "-q", "--select", "I,F401"], ["format", "-q"]):
        command = [str(Path(sys.executable).parent / "ruff"), *arguments, "--stdin-filename", "a.py", "-"]
        done = subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True, check=True)
        text = done.stdout
    return text
