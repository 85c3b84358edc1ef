//! All tests of this crate, as one program: the linker runs once instead of once per file.

// Nothing outside this program uses what the shared modules show.
#![allow(unreachable_pub)]

mod adaptive;
mod blue_gene;
mod bubble;
mod checkpoints;
mod common;
mod control;
mod control_packets;
mod determinism;
mod endpoints;
mod ends;
mod expression;
mod faults;
mod flows;
mod idle_latency;
mod job_waits;
#[path = "common/checkpoint.rs"]
mod kept;
mod learning;
mod machines;
mod memory;
mod paths;
mod ping_pong;
mod processes;
mod random_programs;
mod records;
mod saturation;
mod slow_twin;
#[path = "common/sources.rs"]
mod sources;
mod traffic_classes;
mod twin;
