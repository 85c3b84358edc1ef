"""Types of the compiled module; the functions are defined in crates/py."""

__all__ = ["version"]

def version() -> str: ...
