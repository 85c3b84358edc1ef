"""`python -m odonata` is the command `odonata`."""

from odonata.cli import main

if __name__ == "__main__":
    main(prog_name="odonata")
