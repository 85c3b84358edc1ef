//! Files of the algebraic multigrid model: level tables and machine parameter sets. The readers take bytes or text and
//! a label for messages; opening the file is the caller's affair.

pub mod hierarchy;
pub mod parameters;

/// The kind under which hierarchies that come with the package are known.
pub const HIERARCHIES: &str = "hierarchies";
/// The kind under which parameter sets that come with the package are known.
pub const MACHINES: &str = "machines";
