//! Patterns and placements by name, and their parameters by name: one way to find, set, check and list them, derived
//! from the typed structs by serde.

use crate::WorkloadError;
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{Map, Value};

/// A pattern or placement that can be asked for.
pub(crate) struct Known<K> {
    pub(crate) name: &'static str,
    /// What it is, in one line.
    pub(crate) summary: &'static str,
    /// With the parameters that it has when none are given.
    pub(crate) default: fn() -> K,
}

/// The names alone, in the same order.
pub(crate) const fn names<K, const N: usize>(known: &[Known<K>]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = known[i].name;
        i += 1;
    }
    names
}

/// The entry called `name`.
pub(crate) fn find<'a, K>(kind: &str, name: &str, known: &'a [Known<K>]) -> Result<&'a Known<K>, WorkloadError> {
    known
        .iter()
        .find(|known| known.name == name)
        .ok_or_else(|| WorkloadError::unknown(kind, name, known.iter().map(|known| known.name)))
}

/// All parameters of `spec` by name; the name of the kind itself is left out.
pub(crate) fn of<T: Serialize>(spec: &T) -> Map<String, Value> {
    let Ok(Value::Object(mut all)) = serde_json::to_value(spec) else {
        unreachable!("a specification is a struct of plain values");
    };
    all.remove("name");
    all
}

/// `spec` with `parameter` set to `value`.
pub(crate) fn with<T: Serialize + DeserializeOwned>(
    owner: &str,
    spec: &T,
    parameter: &str,
    value: &Value,
) -> Result<T, WorkloadError> {
    let known = of(spec);
    if !known.contains_key(parameter) {
        let kind = format!("parameter of {owner}");
        if known.is_empty() {
            return Err(WorkloadError::Unknown { kind, name: parameter.into(), hint: "; it has none".into() });
        }
        return Err(WorkloadError::unknown(kind, parameter, known.keys().map(String::as_str)));
    }
    let mut all = serde_json::to_value(spec).expect("a specification is a struct of plain values");
    all[parameter] = value.clone();
    serde_json::from_value(all).map_err(|error| WorkloadError::parameter(owner, parameter, error.to_string()))
}
