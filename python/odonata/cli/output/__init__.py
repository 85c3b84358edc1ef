"""What the commands print: the terminal, its tables and the views of results."""
