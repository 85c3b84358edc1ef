//! Parameters by name: one way to set, check and list them, derived from the typed structs by serde.

use crate::WorkloadError;
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{Map, Value};

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
        return Err(WorkloadError::unknown(kind, parameter, known.keys().map(String::as_str)));
    }
    let mut all = serde_json::to_value(spec).expect("a specification is a struct of plain values");
    all[parameter] = value.clone();
    serde_json::from_value(all).map_err(|error| WorkloadError::parameter(owner, parameter, error.to_string()))
}
