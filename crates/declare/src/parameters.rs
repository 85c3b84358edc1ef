//! Structs of settings that declare their fields.

use crate::key::{Key, KeyDefault, Kind};
use crate::nearest::hint;
use crate::value::Value;
use std::any::Any;

/// An entry in the keys of `P`: a field, or a part whose keys are keys of `P` too.
pub enum Parameter<P> {
    /// A field as a key.
    Field(FieldKey<P>),
    /// A field that is itself a struct with keys; how to read and to change it.
    Part(fn(&P) -> &dyn ParameterStruct, fn(&mut P) -> &mut dyn ParameterStruct),
}

/// A field of `P` as a key: kind, default, meaning, and conversion from and to a value.
pub struct FieldKey<P> {
    /// Name of the key.
    pub name: &'static str,
    /// Kind of the value.
    pub kind: Kind,
    /// Default; `None` for the value of the field in the default struct.
    pub default: Option<KeyDefault>,
    /// Meaning.
    pub doc: &'static str,
    /// Whether the output names the default, see [`Key::decides`].
    pub decides: bool,
    /// Reads the field.
    pub get: fn(&P) -> Option<Value>,
    /// Changes the field.
    pub set: fn(&mut P, Option<&Value>),
}

impl<P> FieldKey<P> {
    /// The value in `of`, or the word for "no value".
    fn value(&self, of: &P) -> Option<Value> {
        (self.get)(of).or(match self.kind {
            Kind::WordOr(word, _) => Some(Value::text(word.name)),
            _ => None,
        })
    }

    fn key(&self, defaults: &P) -> Key {
        let of_struct = || self.value(defaults).map(KeyDefault::Value).expect("a default that is a value");
        let default = self.default.clone().unwrap_or_else(of_struct);
        Key { name: self.name, kind: self.kind, default, doc: self.doc, decides: self.decides }
    }

    fn set(&self, of: &mut P, value: &Value) {
        match (self.kind, value) {
            (Kind::WordOr(word, _), Value::Text(text)) if text == word.name => (self.set)(of, None),
            _ => (self.set)(of, Some(value)),
        }
    }
}

/// Declares a struct whose fields are keys. One statement per field gives the field, its default, the kind of the key
/// and, as documentation comment, the meaning that the reference shows.
///
/// | a field | is |
/// |---|---|
/// | `name: Type = default;` | a key whose kind follows from its type ([`FieldKind`](crate::FieldKind)) |
/// | `name: Type = default, kind;` | a key of this kind |
/// | `name: Type, kind;` | a required key |
/// | `name: Type = None, kind, else "text";` | a key whose default depends on others, as the text says |
/// | `name: Type = default, kind, as other_name;` | a key with another name than the field |
/// | `name: Type = default => Self::of;` | a preset: its value replaces the whole struct by `Self::of(value)` |
/// | `name: Type = default, part;` | a struct of parameters: its keys are keys of this struct |
/// | `name: Type = default, no key;` | a field that no key sets |
///
/// With `#[decides(result)]` before a field, the output names the default where the key is not given.
///
/// The struct implements [`Parameters`](crate::Parameters), `Default`, `Clone` and `Debug`.
///
/// ```
/// use odonata_declare::{parameters, Choice, Kind, ParameterStruct, Value};
/// use odonata_units::{Bytes, Time};
///
/// const ALL: &Choice = &Choice { name: "all", doc: "all ranks" };
///
/// parameters! {
///     /// Parameters of a shift.
///     #[derive(PartialEq)]
///     pub struct Shift {
///         /// Size of each message.
///         pub bytes: Bytes = Bytes::kib(64);
///         /// Distance to the target, in ranks. The last ranks send to the
///         /// first ones.
///         pub offset: u32 = 1, Kind::COUNT;
///         /// Number of ranks.
///         pub ranks: Option<u32> = None, Kind::WordOr(ALL, &Kind::COUNT);
///         /// Start time of sending.
///         pub start: Option<Time> = None, else "the start of the job";
///         /// What the file of targets says.
///         pub targets: Vec<u32> = Vec::new(), no key;
///     }
/// }
///
/// let mut shift = Shift::default();
/// let keys = shift.keys();
/// assert_eq!(keys.len(), 4);
/// assert_eq!(keys[1].doc, "Distance to the target, in ranks. The last ranks send to the first ones.");
/// shift.set("offset", &Value::Integer(3));
/// assert_eq!(shift, Shift { offset: 3, ..Shift::default() });
/// ```
#[macro_export]
macro_rules! parameters {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:tt)* }) => {
        $crate::parameters!(@ { $(#[$meta])* $vis struct } $name {} {} {} $($field)*);
    };

    // One field after the other: the fields of the struct, their defaults, the entries of `PARAMETERS`.
    (@ $struct:tt $name:ident {$($fields:tt)*} {$($defaults:tt)*} {$($entries:tt)*}
        $(#[doc = $doc:literal])* $vis:vis $field:ident: $type:ty = $default:expr, no key; $($rest:tt)*
    ) => {
        $crate::parameters!(@ $struct $name
            {$($fields)* $(#[doc = $doc])* $vis $field: $type,}
            {$($defaults)* $field: $default,}
            {$($entries)*}
            $($rest)*
        );
    };
    (@ $struct:tt $name:ident {$($fields:tt)*} {$($defaults:tt)*} {$($entries:tt)*}
        $(#[doc = $doc:literal])* $vis:vis $field:ident: $type:ty = $default:expr, part; $($rest:tt)*
    ) => {
        $crate::parameters!(@ $struct $name
            {$($fields)* $(#[doc = $doc])* $vis $field: $type,}
            {$($defaults)* $field: $default,}
            {$($entries)* $crate::Parameter::Part(|of| &of.$field, |of| &mut of.$field),}
            $($rest)*
        );
    };
    (@ $struct:tt $name:ident {$($fields:tt)*} {$($defaults:tt)*} {$($entries:tt)*}
        $(#[doc = $doc:literal])+ $(#[decides($decides:ident)])? $vis:vis $field:ident: $type:ty
            $(= $default:expr)? $(, $kind:expr)?
            $(, else $words:expr)? $(, as $key:ident)? $(=> $replace:expr)?; $($rest:tt)*
    ) => {
        $crate::parameters!(@ $struct $name
            {$($fields)* $(#[doc = $doc])+ $vis $field: $type,}
            {$($defaults)* $field: $crate::parameters!(@default $($default)?),}
            {$($entries)* $crate::Parameter::Field($crate::FieldKey {
                name: $crate::parameters!(@name $field $($key)?),
                kind: $crate::parameters!(@kind $type $(, $kind)?),
                default: $crate::parameters!(@described ($($default)?) $($words)?),
                doc: concat!($($doc),+).trim_ascii(),
                decides: $crate::parameters!(@decides $($decides)?),
                get: |of| $crate::Field::get(&of.$field),
                set: $crate::parameters!(@set $field $($replace)?),
            }),}
            $($rest)*
        );
    };

    // No field is left.
    (@ {$($struct:tt)*} $name:ident {$($fields:tt)*} {$($defaults:tt)*} {$($entries:tt)*}) => {
        #[derive(Clone, Debug)]
        $($struct)* $name { $($fields)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($defaults)* }
            }
        }

        impl $crate::Parameters for $name {
            const PARAMETERS: &'static [$crate::Parameter<Self>] = &[$($entries)*];
        }
    };

    (@decides) => { false };
    (@decides result) => { true };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $key:ident) => { stringify!($key) };
    (@kind $type:ty) => { <$type as $crate::FieldKind>::KIND };
    (@kind $type:ty, $kind:expr) => { $kind };
    (@described ()) => { Some($crate::KeyDefault::Required) };
    (@described ($default:expr)) => { None };
    (@described ($($default:expr)?) $words:expr) => { Some($crate::KeyDefault::Described($words)) };
    (@set $field:ident) => { |of, value| of.$field = $crate::Field::of(value) };
    (@set $field:ident $replace:expr) => { |of, value| *of = $replace($crate::Field::of(value)) };
}

/// A struct whose fields are keys of the experiment file, declared with [`parameters!`](crate::parameters).
pub trait Parameters: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Every parameter, in the order of the reference.
    const PARAMETERS: &'static [Parameter<Self>];
}

/// No parameters.
impl Parameters for () {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

/// The operations of every parameter struct, independent of its type.
pub trait ParameterStruct: std::fmt::Debug + Send + Sync {
    /// The keys; their defaults are the current values.
    fn keys(&self) -> Vec<Key>;

    /// Names and values of all parameters that have one.
    fn values(&self) -> Vec<(&'static str, Value)>;

    /// Sets a parameter to a value of its kind.
    ///
    /// # Panics
    /// If the parameter does not exist, or the value is of another kind.
    fn set(&mut self, name: &str, value: &Value) {
        assert!(self.set_if_known(name, value), "no parameter is called '{name}'");
    }

    /// Sets a parameter as `set` does. Whether it exists.
    fn set_if_known(&mut self, name: &str, value: &Value) -> bool;

    /// The struct as `Any`, for a downcast.
    fn as_any(&self) -> &dyn Any;

    /// The struct as mutable `Any`, for a downcast.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<P: Parameters> ParameterStruct for P {
    fn keys(&self) -> Vec<Key> {
        let of = |parameter: &Parameter<P>| match parameter {
            Parameter::Field(field) => vec![field.key(self)],
            Parameter::Part(part, _) => part(self).keys(),
        };
        P::PARAMETERS.iter().flat_map(of).collect()
    }

    fn values(&self) -> Vec<(&'static str, Value)> {
        let of = |parameter: &Parameter<P>| match parameter {
            Parameter::Field(field) => field.value(self).map(|value| (field.name, value)).into_iter().collect(),
            Parameter::Part(part, _) => part(self).values(),
        };
        P::PARAMETERS.iter().flat_map(of).collect()
    }

    fn set_if_known(&mut self, name: &str, value: &Value) -> bool {
        P::PARAMETERS.iter().any(|parameter| match parameter {
            Parameter::Field(field) if field.name == name => {
                field.set(self, value);
                true
            }
            Parameter::Field(_) => false,
            Parameter::Part(_, part) => part(self).set_if_known(name, value),
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Sets a parameter of `target` to a value given by a program.
///
/// # Errors
/// An unknown parameter, with the nearest known one, or the expected kind.
pub fn try_set<T: ParameterStruct + ?Sized>(target: &mut T, name: &str, value: &Value) -> Result<(), String> {
    let keys = target.keys();
    let Some(key) = keys.iter().find(|key| key.name == name) else {
        return Err(match keys.is_empty() {
            true => "unknown parameter; this variant has none".into(),
            false => format!("unknown parameter{}", hint(name, keys.iter().map(|key| key.name))),
        });
    };
    target.set(name, &key.kind.accept(value)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;
    use odonata_units::{Bytes, Time};

    words! {
        /// Size of everything.
        enum Size {
            Small = "small": "few",
            Large = "large": "many",
        }
    }

    const NEVER: &crate::Choice = &crate::Choice { name: "never", doc: "not at all" };

    parameters! {
        /// When a program starts.
        #[derive(PartialEq)]
        struct Schedule {
            /// Start of the first rank.
            start: Time = Time::from_us(3);
            /// Start of the last one.
            last: Option<Time> = None, Kind::WordOr(NEVER, &Kind::Time);
        }
    }

    parameters! {
        /// Parameters of a program.
        #[derive(PartialEq)]
        struct Program {
            /// Source of the keys that are not given.
            size: Size = Size::Small => Self::of;
            /// Path of the file: what the ranks do, "one line each", and `\n` at the
            /// end of a line.
            path: String, Kind::Path;
            schedule: Schedule = Schedule::default(), part;
            /// Size of the ranks' messages.
            sizes: Vec<Bytes> = vec![Bytes(8)];
            /// Messages of each rank.
            #[decides(result)]
            count: u32 = 2, Kind::COUNT, as messages;
            /// Time between two messages.
            gap: Option<Time> = None, else "as in the file";
            lines: Vec<String> = Vec::new(), no key;
        }
    }

    impl Program {
        fn of(size: Size) -> Self {
            let count = if size == Size::Small { 2 } else { 2_000 };
            Self { size, count, ..Self::default() }
        }
    }

    #[test]
    fn a_declaration_gives_field_default_key_and_meaning() {
        let keys = Program::default().keys();
        let time = |us| KeyDefault::Value(Value::Time(Time::from_us(us)));
        let expected = [
            Key::with_default("size", Size::KIND, Value::text("small"), "Source of the keys that are not given."),
            Key::required(
                "path",
                Kind::Path,
                "Path of the file: what the ranks do, \"one line each\", and `\\n` at the end of a line.",
            ),
            Key { name: "start", kind: Kind::Time, default: time(3), doc: "Start of the first rank.", decides: false },
            Key::with_default("last", Kind::WordOr(NEVER, &Kind::Time), Value::text("never"), "Start of the last one."),
            Key::with_default(
                "sizes",
                Kind::List(&Kind::Bytes),
                Value::List(vec![Value::Bytes(Bytes(8))]),
                "Size of the ranks' messages.",
            ),
            Key::with_default("messages", Kind::COUNT, Value::Integer(2), "Messages of each rank."),
            Key::optional("gap", Kind::Time, "as in the file", "Time between two messages."),
        ];
        assert_eq!(keys, expected);
        assert!(keys.iter().zip(&expected).all(|(key, expected)| key.doc == expected.doc));
        let deciding: Vec<_> = keys.iter().filter(|key| key.decides).map(|key| key.name).collect();
        assert_eq!(deciding, ["messages"]);
    }

    #[test]
    fn keys_set_their_fields() {
        let mut program = Program::default();
        program.set("messages", &Value::Integer(5));
        program.set("last", &Value::Time(Time::from_us(9)));
        assert_eq!((program.count, program.schedule.last), (5, Some(Time::from_us(9))));
        assert!(program.values().contains(&("last", Value::Time(Time::from_us(9)))));
        program.set("last", &Value::text("never"));
        assert_eq!(program, Program { count: 5, ..Program::default() });
        assert!(!program.set_if_known("count", &Value::Integer(1)));
        assert!(!program.set_if_known("lines", &Value::text("")));
    }

    #[test]
    fn a_preset_replaces_the_struct() {
        let mut program = Program { path: "a".into(), ..Program::default() };
        program.set("size", &Value::text("large"));
        assert_eq!(program, Program { size: Size::Large, count: 2_000, ..Program::default() });
    }

    #[test]
    fn unknown_parameters_are_errors() {
        let mut program = Program::default();
        let error = try_set(&mut program, "message", &Value::Integer(1)).unwrap_err();
        assert!(error.contains("did you mean 'messages'?"), "{error}");
    }
}
