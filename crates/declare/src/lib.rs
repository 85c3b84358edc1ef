//! The declarations of everything that users write or read.
//!
//! * A **key** of the experiment file is a [`Key`]: name, [`Kind`], [`KeyDefault`] and meaning.
//! * A struct of settings is declared by [`parameters!`]. A field, its default, the kind of its key and its meaning
//!   stand once. The reference, the JSON Schema and `resolved.toml` show them.
//! * A **word** of the file is a variant of an enum, declared with its meaning by [`words!`].
//! * A **column** of the run directory is a [`Column`]: name, type, [`Unit`], [`Merge`], label and meaning. A
//!   [`FilledColumn`] adds the function that fills it. A [`FilledTable`] is a list of these, and a [`Frame`] holds
//!   its values for a context.
//! * A **named variant with parameters** is a [`Variant`] of a registry: a topology, pattern, placement, routing,
//!   injection or engine. It has a name, a one-line description, and a parameter struct behind the trait of its
//!   family.
//!
//! ```
//! use odonata_declare::{parameters, words, Kind, ParameterStruct, Value};
//!
//! words! {
//!     /// Which packet is served first.
//!     pub enum Order {
//!         Age = "age": "the oldest packet",
//!         Turns = "turns": "each channel in turn",
//!     }
//! }
//!
//! parameters! {
//!     /// An arbiter.
//!     struct Arbiter {
//!         /// Packet that is served first.
//!         order: Order = Order::Age;
//!         /// Attempts in a cycle.
//!         tries: u32 = 1, Kind::COUNT;
//!     }
//! }
//!
//! let mut arbiter = Arbiter::default();
//! arbiter.set("order", &Value::text("turns"));
//! assert_eq!(arbiter.order, Order::Turns);
//! assert_eq!(arbiter.values()[1], ("tries", Value::Integer(1)));
//! ```

mod assumption;
mod column;
mod error;
mod field;
mod filled;
mod foreign;
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

pub use assumption::Assumption;
pub use column::{Column, Merge, Role, Type, Unit, AXIS};
pub use error::{FileError, ParameterError, ParameterMistake};
pub use field::{Field, FieldKind};
pub use filled::{declarations, FilledColumn};
pub use foreign::foreign_note;
pub use frame::{Frame, Frames};
pub use key::{Choice, Family, Key, KeyDefault, Kind, VariantInfo, AUTO};
pub use nearest::{hint, nearest};
pub use one_or_each::OneOrEach;
pub use parameters::{try_set, FieldKey, Parameter, ParameterStruct, Parameters};
pub use reader::{ReadAt, Reader};
pub use rule_spec::{RuleFamily, RuleSpec};
pub use table::{FilledTable, Table};
pub use value::{bytes_text, rate_text, time_text, Value};
pub use values::Values;
pub use variant::Variant;
pub use word::Word;
