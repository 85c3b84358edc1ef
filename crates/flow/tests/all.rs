//! All tests of this crate, as one program: the linker runs once instead of once per file.

mod intermediate;
mod invariants;
mod one_path;
mod oracles;
mod path_sets;
mod processes;
