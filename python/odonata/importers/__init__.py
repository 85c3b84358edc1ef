"""What other programs say of a machine's state, as parts of an experiment file."""
