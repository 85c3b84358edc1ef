//! The axes of the section `[sweep]`, as a file has them.

use toml_edit::{Item, Key, TableLike};

/// Every axis with its dotted key, whether the dots are in quotes or not.
pub(super) fn collect_axes(table: &dyn TableLike, prefix: &str, axes: &mut Vec<(String, Key, Item)>) {
    for (name, item) in table.iter() {
        let path = format!("{prefix}{name}");
        match item.as_table_like() {
            Some(inner) => collect_axes(inner, &format!("{path}."), axes),
            None => axes.push((path, table.key(name).cloned().unwrap_or_else(|| Key::new(name)), item.clone())),
        }
    }
}
