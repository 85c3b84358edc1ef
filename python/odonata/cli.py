"""The command `odonata`: each subcommand reads its arguments, calls the API, and prints the result."""

import click

from odonata import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="odonata")
def main() -> None:
    """Odonata, a workbench for supercomputer interconnects."""
