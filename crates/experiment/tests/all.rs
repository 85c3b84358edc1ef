//! All tests of this crate, as one program: the linker runs once instead of once per file.

mod characterize;
mod collectives;
mod failures;
mod files;
mod graphs;
mod keys;
mod loggops_engine;
mod min_in_both_engines;
mod mistakes;
mod model_engine;
mod no_panic;
mod one_path_in_both_engines;
mod osu;
mod packet_engine;
mod path_error;
mod rail_programs;
mod rails;
mod resolved;
mod run;
mod subnet_tables;
mod tables;
mod unequal_cables;
mod warm_ups;
