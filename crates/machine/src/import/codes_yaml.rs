//! The YAML description of newer CODES (`schema_version: 1`). Its compiler converts it to a PARAMS section, and so
//! does this reader.
//!
//! | `topology` | PARAMS |
//! |---|---|
//! | `format: parametric`, `fabric.model: dragonfly-dally` | `modelnet_order`, with `_` |
//! | `fabric.shape.NAME`, `fabric.NAME` | `NAME` |
//! | `fabric.links.CLASS.NAME` (`local`, `global`, `cn`; `bandwidth`) | `CLASS_NAME` |
//! | `fabric.connections.intra`, `.inter` | `intra-group-connections`, `inter-group-connections` |
//! | `format: groups`, `params.NAME` | `NAME` |
//!
//! `include` names files whose `topology` is used if the file has none; the last one wins.
//!
//! Components, hosts, routing, jobs and other sections are not read. Names with an annotation (`n_dims@foo`) belong
//! to machines with several networks, which are refused.

use super::entries::{Entries, Entry};
use super::format::FormatError;
use super::located_value::{document, LocatedValue, Value};
use super::{codes_conf, line, text};
use crate::{MachineBuilder, MachineError};
use odonata_declare::Reader;
use std::path::Path;

/// Reads a description.
///
/// # Errors
/// Text that is not YAML, a topology of another form, and all errors of [`codes_conf()`](super::codes_conf()); the
/// message has the line.
pub fn codes_yaml(bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
    let tree = document(text(bytes, label)?, label)?;
    if tree.get("topology").is_none() {
        if let Some((bytes, path)) = included(&tree, label, files)? {
            let tree = document(text(&bytes, &path)?, &path)?;
            return codes_conf::machine(&params(&tree, &path)?, files);
        }
    }
    codes_conf::machine(&params(&tree, label)?, files)
}

/// The last included file that has a topology.
fn included(
    tree: &LocatedValue,
    label: &str,
    files: &mut dyn Reader,
) -> Result<Option<(Vec<u8>, String)>, FormatError> {
    let Some(include) = tree.get("include") else { return Ok(None) };
    let names: Vec<&LocatedValue> = match &include.value {
        Value::List(items) => items.iter().collect(),
        _ => vec![include],
    };
    let mut found = None;
    for name in names {
        let path = Path::new(label).parent().unwrap_or_else(|| Path::new("")).join(name.text(label, "include")?);
        let path = path.to_string_lossy().into_owned();
        let bytes = match files.read(&path) {
            Ok(bytes) => bytes,
            Err(reason) => return Ok(line(label, name.line, format!("{path} can't be read: {reason}"))?),
        };
        let tree = document(text(&bytes, &path)?, &path)?;
        if let Some(again) = tree.get("include") {
            return Ok(line(&path, again.line, "an included file includes others, which CODES does not allow")?);
        }
        if tree.get("topology").is_some() {
            found = Some((bytes, path));
        }
    }
    Ok(found)
}

/// Converts the description to a PARAMS section.
fn params<'a>(tree: &LocatedValue, label: &'a str) -> Result<Entries<'a>, MachineError> {
    let topology = tree.need(label, "topology")?;
    let Some(form) = topology.get("format") else {
        let what = if topology.get("switches").is_some() {
            "a network of the fluid model, switch by switch, is not supported"
        } else {
            "'format' is missing"
        };
        return line(label, topology.line, format!("{what}; expected format: parametric or format: groups"));
    };
    let mut params = Entries { label, line: topology.line, entries: Vec::new() };
    match form.text(label, "format")? {
        "parametric" => {
            let fabric = topology.need(label, "fabric")?;
            params.line = fabric.line;
            fabric_entries(fabric, &mut params)?;
        }
        "groups" => {
            let own = topology.need(label, "params")?;
            params.line = own.line;
            for (name, value) in own.entries(label, "params")? {
                put(&mut params, name, value)?;
            }
        }
        other => {
            let reason = format!("a topology of format '{other}'; expected parametric or groups");
            return line(label, form.line, reason);
        }
    }
    if let Some(entry) = params.entries.iter().find(|entry| entry.name.contains('@')) {
        let reason = format!(
            "'{}' belongs to one of several networks; a machine has one network: write a file for each",
            entry.name
        );
        return line(label, entry.line, reason);
    }
    Ok(params)
}

fn fabric_entries(fabric: &LocatedValue, params: &mut Entries<'_>) -> Result<(), MachineError> {
    let label = params.label;
    fabric.need(label, "model")?;
    for (name, value) in fabric.entries(label, "fabric")? {
        match name.as_str() {
            "model" => {
                let model = value.text(label, "model")?.replace('-', "_");
                params.entries.push(Entry { line: value.line, name: "modelnet_order".into(), value: model });
            }
            "shape" => {
                for (name, value) in value.entries(label, "shape")? {
                    put(params, name, value)?;
                }
            }
            "links" => {
                for (class, figures) in value.entries(label, "links")? {
                    for (name, value) in figures.entries(label, class)? {
                        put(params, &format!("{class}_{name}"), value)?;
                    }
                }
            }
            "connections" => {
                for (name, value) in value.entries(label, "connections")? {
                    put(params, &format!("{name}-group-connections"), value)?;
                }
            }
            // The engine selects the routing.
            "routing" => {}
            _ => put(params, name, value)?,
        }
    }
    Ok(())
}

/// Adds an entry; the items of a list are separated by commas. A value with names is not an entry.
fn put(params: &mut Entries<'_>, name: &str, value: &LocatedValue) -> Result<(), MachineError> {
    let text = match &value.value {
        Value::Text(text) => text.clone(),
        Value::List(items) => {
            let items: Result<Vec<&str>, MachineError> =
                items.iter().map(|item| item.text(params.label, name)).collect();
            items?.join(",")
        }
        Value::Map(_) => return Ok(()),
    };
    params.entries.push(Entry { line: value.line, name: name.to_owned().into(), value: text });
    Ok(())
}
