//! All tests of this crate, as one program: the linker runs once instead of once per file.

mod descriptions;
mod edison_wiring;
mod edits_spread;
mod extents;
mod import_mistakes;
mod import_round_trips;
mod infiniband;
mod levels;
mod other_simulators;
mod presets;
mod rails;
mod readers;
mod relabelling;
mod slurm_topology;
mod yaml_and_json;
