//! All tests of this crate, as one program: the linker runs once instead of once per file.

mod calls;
#[path = "../../packet/tests/common/checkpoint.rs"]
mod checkpoint;
mod checkpoints;
mod closed_forms;
mod common;
mod fast_forward;
mod graphs;
mod messages;
mod progress;
mod ranks;
mod twin;
