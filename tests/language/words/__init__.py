"""Checks the words of the project: names, texts, pages. The rules are data, in `docs/vocabulary.toml`."""
