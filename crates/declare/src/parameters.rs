//! Structs of settings that declare their fields.

use crate::key::{Key, KeyDefault, Kind};
use crate::nearest::hint;
use crate::value::Value;
use std::any::Any;

/// A field of `P` as a key: kind, meaning, and conversion from and to a value.
pub struct Parameter<P> {
    name: &'static str,
    kind: Kind,
    default: ParameterDefault,
    doc: &'static str,
    get: fn(&P) -> Option<Value>,
    set: fn(&mut P, Option<&Value>),
}

/// What applies if a parameter is not given.
#[derive(Clone, Copy)]
enum ParameterDefault {
    /// The value in the struct's default.
    FromStruct,
    Required,
    Described(&'static str),
}

impl<P> Parameter<P> {
    /// A parameter whose default is the field of the default struct; see [`parameter!`](crate::parameter).
    pub const fn new(
        name: &'static str,
        kind: Kind,
        doc: &'static str,
        get: fn(&P) -> Option<Value>,
        set: fn(&mut P, Option<&Value>),
    ) -> Self {
        Self { name, kind, default: ParameterDefault::FromStruct, doc, get, set }
    }

    /// Makes the parameter required.
    #[must_use]
    pub const fn required(self) -> Self {
        Self { default: ParameterDefault::Required, ..self }
    }

    /// Describes the default as text, because it depends on other keys.
    #[must_use]
    pub const fn or_described(self, words: &'static str) -> Self {
        Self { default: ParameterDefault::Described(words), ..self }
    }

    /// The value in `of`, or the word for "no value".
    fn value(&self, of: &P) -> Option<Value> {
        (self.get)(of).or(match self.kind {
            Kind::WordOr(word, _) => Some(Value::text(word.name)),
            _ => None,
        })
    }

    fn key(&self, defaults: &P) -> Key {
        let default = match self.default {
            ParameterDefault::FromStruct => {
                self.value(defaults).map(KeyDefault::Value).expect("a default that is a value")
            }
            ParameterDefault::Required => KeyDefault::Required,
            ParameterDefault::Described(words) => KeyDefault::Described(words),
        };
        Key { name: self.name, kind: self.kind, default, doc: self.doc }
    }
}

/// Declares a field of the struct as a [`Parameter`]: name, kind, meaning. Write `name = field.field` if the key has
/// another name or the field lies deeper. End with `required`, or with `else "text"` to describe a default that
/// depends on other keys.
#[macro_export]
macro_rules! parameter {
    ($name:ident = $($field:ident).+, $kind:expr, $doc:expr, required $(,)?) => {
        $crate::Parameter::required($crate::parameter!($name = $($field).+, $kind, $doc))
    };
    ($name:ident = $($field:ident).+, $kind:expr, $doc:expr, else $words:expr $(,)?) => {
        $crate::Parameter::or_described($crate::parameter!($name = $($field).+, $kind, $doc), $words)
    };
    ($name:ident = $($field:ident).+, $kind:expr, $doc:expr $(,)?) => {
        $crate::Parameter::new(
            stringify!($name),
            $kind,
            $doc,
            |of| $crate::Field::get(&of.$($field).+),
            |of, value| of.$($field).+ = $crate::Field::of(value),
        )
    };
    ($name:ident, $($rest:tt)+) => {
        $crate::parameter!($name = $name, $($rest)+)
    };
}

/// A struct whose fields are keys of the experiment file. Its `Default` holds the default of every key.
pub trait Parameters: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Every parameter, in the order of the reference.
    const PARAMETERS: &'static [Parameter<Self>];
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
    fn set(&mut self, name: &str, value: &Value);

    /// The struct as `Any`, for a downcast.
    fn as_any(&self) -> &dyn Any;

    /// The struct as mutable `Any`, for a downcast.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<P: Parameters> ParameterStruct for P {
    fn keys(&self) -> Vec<Key> {
        P::PARAMETERS.iter().map(|parameter| parameter.key(self)).collect()
    }

    fn values(&self) -> Vec<(&'static str, Value)> {
        P::PARAMETERS.iter().filter_map(|parameter| Some((parameter.name, parameter.value(self)?))).collect()
    }

    fn set(&mut self, name: &str, value: &Value) {
        let parameter = P::PARAMETERS.iter().find(|parameter| parameter.name == name);
        let parameter = parameter.unwrap_or_else(|| panic!("no parameter is called '{name}'"));
        match (parameter.kind, value) {
            (Kind::WordOr(word, _), Value::Text(text)) if text == word.name => (parameter.set)(self, None),
            _ => (parameter.set)(self, Some(value)),
        }
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
