//! The experiment file, whatever its keys mean: a tree of values with their places, and what is wrong with it.
//!
//! A [`Document`] is parsed from a text; [`overrides`] change it. [`Fields`] and [`variant`] read the values of declared keys
//! from its tables and put every mistake in a [`Report`], which gives [`Problems`]: kind, file, line, column, message, help.
//! [`mod@format`] knows the keys of older versions. [`Files`] opens the files that an experiment names.

mod fields;
pub mod format;
mod gzip;
mod input;
mod keys;
pub mod overrides;
mod parts;
mod problem;
mod read;
mod regular;
mod report;
mod section;
mod tree;
pub mod variant;

pub use fields::Fields;
pub use input::{read_experiment, read_file, sha256, Files, InputFile, Library, ParquetAsCsv, EXPERIMENT_BYTES_MAX};
pub use keys::expect_table;
pub use problem::{suggestion, Location, Problem, ProblemKind, Problems};
pub use read::{read, PlacedValue};
pub use report::{Mismatch, Report};
pub use section::Section;
pub use tree::{Document, Entry, Node, Place, Raw, Table};
pub use variant::Chooser;
