//! One place for every fact that a user can write or read.
//!
//! * A **key** of the experiment file has a name, a [`Kind`], what holds when it is [`Absent`], and a meaning: [`Key`].
//! * A struct of settings declares its fields as keys with [`Parameters`]: a table of [`Parameter`]s, each of which knows
//!   its kind, its meaning and how to read and write its field. The default stands in the struct's `Default` alone, and is
//!   what the reference page, the JSON Schema and `resolved.toml` show.
//! * A **word** of the file is a variant of an enum, declared by [`words!`] with its meaning: a word without a match arm
//!   does not compile.
//! * A **column** of the run directory is a [`Column`]: name, type, [`Unit`], [`Merge`], label, meaning, with the function
//!   that fills it ([`FilledColumn`]); a [`FilledTable`] is a list of them, and a [`Frame`] what it gives for a context.
//! * A **named variant with parameters** (a topology, a pattern, a placement, a routing, an injection, an engine) is a
//!   [`Variant`] of a registry: name, one line, and the struct of its parameters behind the trait of its family.
//!
//! ```
//! use odonata_declare::{parameter, words, ParameterStruct, Kind, Parameter, Parameters, Value};
//!
//! words! {
//!     /// Who goes first.
//!     pub enum Order {
//!         /// Whoever came first.
//!         Age = "age": "the oldest packet",
//!         /// In turns.
//!         Turns = "turns": "each channel in its turn",
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
//!         parameter!(order, Order::KIND, "Which packet is served."),
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
mod field;
mod filled;
mod frame;
mod key;
mod nearest;
mod one_or_each;
mod parameters;
mod reader;
mod table;
mod value;
mod values;
mod variant;
mod word;

pub use column::{Column, Merge, Role, Type, Unit, AXIS};
pub use field::Field;
pub use filled::{declarations, FilledColumn};
pub use frame::{Frame, Frames};
pub use key::{Choice, Family, Key, KeyDefault, Kind, VariantInfo, AUTO};
pub use nearest::{hint, nearest};
pub use one_or_each::OneOrEach;
pub use parameters::{try_set, Parameter, ParameterStruct, Parameters};
pub use reader::Reader;
pub use table::{FilledTable, Table};
pub use value::{bytes_text, rate_text, time_text, Value};
pub use values::Values;
pub use variant::Variant;
pub use word::Word;
