//! Keys with new names since version 3.

use super::axes::collect_axes;
use toml_edit::{Array, InlineTable, Item, Key, Table, TableLike, Value};

/// The table that has the key (without the selector of a job or the number of a program), the old name, and the new one.
pub(super) const KEYS: &[(&str, &str, &str)] = &[
    ("engine", "patience", "progress_timeout"),
    ("engine", "middle", "intermediate"),
    ("engine.injection", "pick", "fifo_choice"),
    ("engine.injection", "room", "fifo_packets"),
    ("engine.routing", "second_middle", "second_intermediate"),
    ("engine.routing", "threshold_middle", "threshold_intermediate"),
    // Parameters of a pattern, a program or a placement may be keys of the job.
    ("job", "reach", "max_distance"),
    ("job", "third", "third_neighbor_factor"),
    ("job", "then", "transforms"),
    ("job.pattern", "reach", "max_distance"),
    ("job.program", "third", "third_neighbor_factor"),
    ("job.placement", "then", "transforms"),
    ("mpi", "announcement", "rendezvous_header"),
    ("mpi", "get", "get_request"),
    ("mpi", "header", "header_setup"),
    ("mpi", "injection_buffer", "injection_buffer_packets"),
    ("mpi", "prepared", "prepared_packets"),
    ("optimize", "minimise", "objectives"),
    ("optimize", "at_most", "constraints"),
    ("optimize.at_most", "of", "quantity"),
    ("optimize.at_most", "value", "max"),
];

/// What a key of an older version is called now, if a table with these keys has it.
pub fn new_name(key: &str, known: &[&str]) -> Option<String> {
    let (_, _, new) = KEYS.iter().find(|(_, old, new)| *old == key && known.contains(new))?;
    Some(format!("since format 3 it is called '{new}'; `odonata check --upgrade FILE` rewrites an older file"))
}

/// Renames the keys of a whole file.
pub(super) fn rename(root: &mut Table) {
    rename_keys(root, "");
    if let Some(sweep) = root.get_mut("sweep").and_then(Item::as_table_mut) {
        rename_axes(sweep);
    }
}

/// Renames in a table with this path, and in all that it holds. A sweep has keys of its own.
fn rename_keys(table: &mut dyn TableLike, path: &str) {
    let mut keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
    keys.retain(|key| !(path.is_empty() && key == "sweep"));
    for key in &keys {
        let inner = joined(path, key);
        if let Some(item) = table.get_mut(key) {
            rename_in_item(item, &inner);
        }
    }
    let new_of = |key: &str| KEYS.iter().find(|(table, old, _)| (*table, *old) == (path, key)).map(|(.., new)| *new);
    if !table.iter().any(|(key, _)| new_of(key).is_some()) {
        return;
    }
    // There is no renaming in place: all entries go out and come back in their order.
    let entries: Vec<(Key, Item)> = table
        .iter()
        .map(|(key, item)| (table.key(key).cloned().unwrap_or_else(|| Key::new(key)), item.clone()))
        .collect();
    table.clear();
    for (key, item) in entries {
        let key = match new_of(key.get()) {
            Some(new) => {
                Key::new(new).with_leaf_decor(key.leaf_decor().clone()).with_dotted_decor(key.dotted_decor().clone())
            }
            None => key,
        };
        table.entry_format(&key).or_insert(item);
    }
}

fn rename_in_item(item: &mut Item, path: &str) {
    match item {
        Item::Table(table) => rename_keys(table, path),
        Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| rename_keys(table, path)),
        Item::Value(value) => rename_in_value(value, path),
        Item::None => {}
    }
}

fn rename_in_value(value: &mut Value, path: &str) {
    match value {
        Value::InlineTable(table) => rename_keys(table as &mut InlineTable, path),
        Value::Array(values) => values.iter_mut().for_each(|value| rename_in_value(value, path)),
        _ => {}
    }
}

/// Renames the axes of a sweep by their dotted keys, and the keys in their values.
fn rename_axes(sweep: &mut Table) {
    let mut axes = Vec::new();
    collect_axes(sweep, "", &mut axes);
    let mut changed = false;
    for (path, _, item) in &mut axes {
        let place = without_selectors(path);
        if let Some(values) = item.as_array_mut() {
            let before = values.to_string();
            values.iter_mut().for_each(|value| rename_in_value(value, &place));
            changed |= before != Array::to_string(values);
        }
        let (table, key) = place.rsplit_once('.').unwrap_or(("", &place));
        if let Some((.., new)) = KEYS.iter().find(|(of, old, _)| (*of, *old) == (table, key)) {
            *path = path.rsplit_once('.').map_or_else(|| (*new).to_owned(), |(rest, _)| format!("{rest}.{new}"));
            changed = true;
        }
    }
    if changed {
        sweep.clear();
        for (path, key, item) in axes {
            sweep.insert_formatted(&Key::new(path).with_leaf_decor(key.leaf_decor().clone()), item);
        }
    }
}

/// `job.program.third` for `job.halo.program.1.third`.
fn without_selectors(path: &str) -> String {
    let mut steps: Vec<&str> = path.split('.').collect();
    if steps[0] == "job" && steps.len() > 1 {
        steps.remove(1);
    }
    if steps.len() > 2 && steps[1] == "program" && steps[2].parse::<usize>().is_ok() {
        steps.remove(2);
    }
    steps.join(".")
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::upgrade;

    fn upgraded(text: &str) -> String {
        upgrade(text, "x.toml").unwrap()
    }

    /// A file that has every old key once, and nothing else; `old` and `new` say which of the two names it has.
    fn file(name: impl Fn(&(&str, &'static str, &'static str)) -> &'static str) -> String {
        let mut text = String::from("format = 3\n");
        for key in KEYS.iter().filter(|(table, ..)| *table != "optimize.at_most") {
            let heading = match key.0.strip_prefix("job") {
                Some(rest) => format!("[[job]]\n[job{rest}]").replace("[[job]]\n[job]", "[[job]]"),
                None => format!("[{}]", key.0),
            };
            // Every key in a table of its own place, which TOML may have only once.
            if !text.contains(&format!("{heading}\n")) || key.0.starts_with("job") {
                text += &format!("{heading}\n{} = 1\n", name(key));
            } else {
                text = text.replace(&format!("{heading}\n"), &format!("{heading}\n{} = 1\n", name(key)));
            }
        }
        text
    }

    #[test]
    fn every_key_gets_its_new_name() {
        let old = file(|(_, old, _)| old).replace("format = 3", "format = 2");
        assert_eq!(upgraded(&old), file(|(.., new)| new));
        assert_eq!(upgraded(&file(|(.., new)| new)), file(|(.., new)| new), "a new file stays as it is");
    }

    #[test]
    fn inline_tables_comments_and_order_stay() {
        let old = "# top\nformat = 2\n\n[[job]] # a job\nname = \"a\"\nreach = 5 # ranks\nranks = 4\n\n[[job]]\n\
            pattern = { name = \"umesh\", reach = 50, neighbors_min = 1 }\n\
            program = [{ name = \"lqcd\", third = 3 }, \"ring\"]\n\n[optimize]\nminimise = [\"price\"]\n\
            at_most = [{ of = \"price\", value = 3 }] # at most\n";
        let new =
            "# top\nformat = 3\n\n[[job]] # a job\nname = \"a\"\nmax_distance = 5 # ranks\nranks = 4\n\n[[job]]\n\
            pattern = { name = \"umesh\", max_distance = 50, neighbors_min = 1 }\n\
            program = [{ name = \"lqcd\", third_neighbor_factor = 3 }, \"ring\"]\n\n[optimize]\n\
            objectives = [\"price\"]\nconstraints = [{ quantity = \"price\", max = 3 }] # at most\n";
        assert_eq!(upgraded(old), new);
    }

    #[test]
    fn axes_of_a_sweep_are_renamed_with_their_values() {
        let old = "format = 2\n\n[sweep] # all\n\"engine.patience\" = [\"1 ms\"] # time\n\
            \"job.*.pattern.reach\" = [1, 2]\n\"job.a.program.1.third\" = [2]\njob.b.reach = [3]\n\
            \"job.0.placement\" = [\"compact\", { name = \"mapping\", order = \"TXYZ\", then = [] }]\n\
            \"engine.injection\" = [{ room = 2 }]\n";
        let new = "format = 3\n\n[sweep] # all\n\"engine.progress_timeout\" = [\"1 ms\"] # time\n\
            \"job.*.pattern.max_distance\" = [1, 2]\n\"job.a.program.1.third_neighbor_factor\" = [2]\n\
            \"job.b.max_distance\" = [3]\n\
            \"job.0.placement\" = [\"compact\", { name = \"mapping\", order = \"TXYZ\", transforms = [] }]\n\
            \"engine.injection\" = [{ fifo_packets = 2 }]\n";
        assert_eq!(upgraded(old), new);
    }

    /// A file of format 2 has injection FIFOs in `[engine]`, where one of format 1 has the times of packets.
    #[test]
    fn injection_fifos_stay_in_the_engine() {
        for heading in ["format = 2\n\n", ""] {
            let old = format!("{heading}[engine]\nkind = \"packet\"\ninjection = {{ fifos = 3, pick = \"pin\" }}\n");
            let new = "format = 3\n\n[engine]\nkind = \"packet\"\ninjection = { fifos = 3, fifo_choice = \"pin\" }\n";
            assert_eq!(upgraded(&old), new);
        }
    }
}
