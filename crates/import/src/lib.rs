//! Readers of foreign files, one per format: communication graphs and placements. They accept bytes or columns and a
//! label for messages; the caller reads the file.
//!
//! Every error names the label and the place (`line 12`, `byte 144`, `row 7`) and what was expected.
//!
//! ```
//! let graph = odonata_import::csv::communication_graph("a.csv", b"src,dst,bytes\n0,1,8\n", None).unwrap();
//! assert_eq!((graph.ranks(), graph.len()), (2, 1));
//! ```

pub mod codes;
pub mod columns;
pub mod csv;
pub mod damselfly;
mod format;
mod graph;
pub mod htsim;
pub mod matrix;
mod message_list;
mod placement_table;
mod text;
pub mod tracer;

pub use format::{GraphFormat, PlacementFormat};
pub use graph::CommunicationGraph;
pub use message_list::{MessageList, MAX_DERIVED_RANKS};
pub use placement_table::{Entry, Place, PlacementTable};
