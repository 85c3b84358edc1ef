"""The browser viewer's Python side: a local server, the standalone page, the notebook widget."""
