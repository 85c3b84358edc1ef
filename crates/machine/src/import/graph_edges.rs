//! The edges of a graph, as the readers of its forms find them.

use odonata_units::Rate;

/// The edges of a file.
#[derive(Default)]
pub(super) struct Edges {
    /// Ends, and the line.
    pub(super) edges: Vec<(String, String, usize)>,
    pub(super) directed: bool,
    /// Bits per second of each edge, if the file has them.
    pub(super) rates: Vec<Option<Rate>>,
    /// Number of vertices, if the file lists them.
    pub(super) vertices: Option<usize>,
}
