//! All tests of this crate, as one program: the linker runs once instead of once per file.

mod blue_gene;
mod by_message;
mod deadlock_legs;
mod decisions;
mod expression;
mod hop_by_hop;
mod minimal;
mod one_path;
mod other_machines;
mod pages;
mod paths;
mod vc_order;
