//! The declarations of everything that users write or read.
//!
//! * A **key** of the experiment file is a [`Key`]: name, [`Kind`], [`KeyDefault`] and meaning.
//! * A struct of settings declares its fields as keys with [`Parameters`], a list of [`Parameter`]s. Each knows its
//!   kind, its meaning, and how to read and write its field. The default stands only in the struct's `Default`. The
//!   reference, the JSON Schema and `resolved.toml` show it.
//! * A **word** of the file is a variant of an enum, declared with its meaning by [`words!`].
//! * A **column** of the run directory is a [`Column`]: name, type, [`Unit`], [`Merge`], label and meaning. A
//!   [`FilledColumn`] adds the function that fills it. A [`FilledTable`] is a list of these, and a [`Frame`] holds
//!   its values for a context.
//! * A **named variant with parameters** is a [`Variant`] of a registry: a topology, pattern, placement, routing,
//!   injection or engine. It has a name, a one-line description, and a parameter struct behind the trait of its
//!   family.
//!
//! ```
//! use odonata_declare::{parameter, words, Kind, Parameter, ParameterStruct, Parameters, Value};
//!
//! words! {
//!     /// Which packet is served first.
//!     pub enum Order {
//!         /// The oldest one.
//!         Age = "age": "the oldest packet",
//!         /// Round robin.
//!         Turns = "turns": "each channel in turn",
//!     }
//! }
//!
//! #[derive(Clone, Debug)]
//! struct Arbiter {
//!     order: Order,
//!     tries: u32,
//! }
//!
//! impl Default for Arbiter {
//!     fn default() -> Self {
//!         Self { order: Order::Age, tries: 1 }
//!     }
//! }
//!
//! impl Parameters for Arbiter {
//!     const PARAMETERS: &'static [Parameter<Self>] = &[
//!         parameter!(order, Order::KIND, "Packet that is served first."),
//!         parameter!(tries, Kind::count(1), "Attempts in a cycle."),
//!     ];
//! }
//!
//! let mut arbiter = Arbiter::default();
//! arbiter.set("order", &Value::text("turns"));
//! assert_eq!(arbiter.order, Order::Turns);
//! assert_eq!(arbiter.values()[1], ("tries", Value::Integer(1)));
//! ```

mod column;
mod error;
mod field;
mod filled;
mod frame;
mod key;
mod nearest;
mod one_or_each;
mod parameters;
mod reader;
mod rule_spec;
mod table;
mod value;
mod values;
mod variant;
mod word;

pub use column::{Column, Merge, Role, Type, Unit, AXIS};
pub use error::{FileError, ParameterError};
pub use field::Field;
pub use filled::{declarations, FilledColumn};
pub use frame::{Frame, Frames};
pub use key::{Choice, Family, Key, KeyDefault, Kind, VariantInfo, AUTO};
pub use nearest::{hint, nearest};
pub use one_or_each::OneOrEach;
pub use parameters::{try_set, Parameter, ParameterStruct, Parameters};
pub use reader::Reader;
pub use rule_spec::RuleSpec;
pub use table::{FilledTable, Table};
pub use value::{bytes_text, rate_text, time_text, Value};
pub use values::Values;
pub use variant::Variant;
pub use word::Word;
