"""Run directories: the only output of an engine, and the only input of analysis, plots and viewer.

Import from the modules. Those for checkpoints, sweeps and atomic files work without pyarrow, which takes a
fifth of a second to load.
"""
