//! Versions of the experiment file: the old places and names of keys, and the upgrade of an old file.
//!
//! | version | what changed |
//! |---|---|
//! | 1 | |
//! | 2 | a job owns its traffic (`[[job]] traffic`, before in `[engine]`), a routing its parameters (`[engine] routing`), and
//! the parameters of the flow engine's `ugal`, which count hops, have their own names |
//! | 3 | keys have the terms of the field: see `renamed::KEYS` |

mod axes;
mod renamed;

pub use renamed::new_name;

use crate::problem::{Problem, ProblemKind, Problems};
use axes::collect_axes;
use toml_edit::{value, Array, ArrayOfTables, DocumentMut, InlineTable, Item, Key, Table, Value};

/// The version of the format that this program reads.
pub const VERSION: i64 = 3;

/// Keys of `[engine]` that belong to the traffic of a job since version 2.
const TRAFFIC: [&str; 6] = ["load", "start", "step_times", "step_loads", "injection", "burst"];
/// Keys of these that could be lists with a value for each job.
const PER_JOB: [&str; 2] = ["load", "start"];
/// Keys of `[engine]` that belong to the routing since version 2.
const ROUTING: [&str; 10] = [
    "threshold",
    "bias",
    "minimal_candidates",
    "non_minimal_candidates",
    "gain",
    "loss",
    "exploration",
    "threshold_source",
    "threshold_middle",
    "q_tables",
];

/// A parameter of version 1 as `routing` calls it now.
fn of_routing<'k>(routing: &str, key: &'k str) -> &'k str {
    match (routing, key) {
        ("ugal", "threshold") => "hop_threshold",
        ("ugal", "bias") => "bias_load_hops",
        _ => key,
    }
}

/// Where a key of `[engine]` of version 1 stands now, if it does not stand there any more.
pub fn moved(key: &str) -> Option<String> {
    let now = match key {
        "traffic" => "it belongs to a job: write `traffic = \"open\"` in its [[job]]".to_owned(),
        _ if TRAFFIC.contains(&key) => {
            format!("it belongs to a job: write `traffic = {{ name = \"open\", {key} = … }}` in its [[job]]")
        }
        _ if ROUTING.contains(&key) => {
            format!("it belongs to the routing: write `routing = {{ name = …, {key} = … }}`")
        }
        _ => return None,
    };
    Some(format!("{now}; `odonata check --upgrade FILE` rewrites a file of format 1"))
}

/// The text of an experiment file of an older version in the present one, with its comments.
///
/// A file that does not say its version may have any: every key that has an old place or name gets the new one.
///
/// # Errors
/// No TOML, or a sweep of version 1 that has no equal now.
pub fn upgrade(text: &str, file: &str) -> Result<String, Problems> {
    let problem = |kind, message: String| {
        Problems(vec![Problem { kind, file: file.to_owned(), location: None, message, help: None }])
    };
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| problem(ProblemKind::Syntax, error.to_string()))?;
    let version = document.get("format").and_then(Item::as_integer);
    if version.is_none_or(|version| version < 2) {
        move_keys(&mut document, problem)?;
    }
    if version.is_none_or(|version| version < 3) {
        renamed::rename(document.as_table_mut());
    }
    Ok(marked(document))
}

/// Moves the keys that stood elsewhere in version 1.
fn move_keys(document: &mut DocumentMut, problem: impl Fn(ProblemKind, String) -> Problems) -> Result<(), Problems> {
    let taken = document.get_mut("engine").and_then(Item::as_table_like_mut).map(|engine| {
        let mut take = |keys: &[&'static str]| -> Vec<(&'static str, Value)> {
            // Since version 2, `injection` of the engine is a table: the injection FIFOs of a node.
            let moves = |item: &Item| !item.is_table_like();
            let mut of_version_1 = |key| engine.get(key).is_some_and(moves).then(|| engine.remove(key)).flatten();
            keys.iter().filter_map(|key| Some((*key, of_version_1(key)?.into_value().ok()?))).collect()
        };
        let (kind, traffic, routing) = (take(&["traffic"]), take(&TRAFFIC), take(&ROUTING));
        if !routing.is_empty() {
            let name = engine.get("routing").and_then(Item::as_str).unwrap_or("min").to_owned();
            let mut table = InlineTable::from_iter([("name", &name)]);
            routing.into_iter().for_each(|(key, v)| drop(table.insert(of_routing(&name, key), bare(v))));
            engine.insert("routing", value(table));
        }
        (kind.first().is_some_and(|(_, kind)| kind.as_str() == Some("open")), traffic)
    });
    let routing = document.get("engine").and_then(|engine| engine.get("routing"));
    let parameters = routing.is_some_and(Item::is_inline_table);
    let name = routing
        .and_then(|routing| routing.as_str().or_else(|| routing.get("name")?.as_str()))
        .unwrap_or("min")
        .to_owned();
    if let Some((true, traffic)) = taken {
        match document.get_mut("job") {
            Some(Item::ArrayOfTables(jobs)) => open_traffic(jobs, &traffic),
            _ => return Err(problem(ProblemKind::MissingKey, "there is no [[job]] to own the traffic".into())),
        }
    }
    let mut swept = None;
    if let Some(sweep) = document.get_mut("sweep").and_then(Item::as_table_mut) {
        swept = rename_axes(sweep, &name, parameters).map_err(|message| problem(ProblemKind::Value, message))?;
    }
    // The file without its sweep must have a routing with the swept parameter.
    if let (Some(name), Some(engine)) = (swept, document.get_mut("engine").and_then(Item::as_table_like_mut)) {
        engine.entry("routing").or_insert(value(name));
    }
    Ok(())
}

/// A value without the spaces and comments around it.
fn bare(mut value: Value) -> Value {
    value.decor_mut().clear();
    value
}

/// Gives every job open traffic with these parameters; of a list for all jobs, each gets its own value.
fn open_traffic(jobs: &mut ArrayOfTables, parameters: &[(&'static str, Value)]) {
    let count = jobs.len();
    for (i, job) in jobs.iter_mut().enumerate() {
        let mut table = InlineTable::from_iter([("name", "open")]);
        for (key, given) in parameters {
            let own = match given.as_array().filter(|_| PER_JOB.contains(key)) {
                Some(list) if list.len() == 1 || list.len() == count => list.get(i.min(list.len() - 1)).cloned(),
                _ => Some(given.clone()),
            };
            own.into_iter().for_each(|own| drop(table.insert(*key, bare(own))));
        }
        job.insert("traffic", value(table));
    }
}

/// The axes of a sweep by their new keys, in their old order. `parameters` says whether `routing` has some. If it gets some
/// by the sweep, returns the first of the routings that are swept.
fn rename_axes(sweep: &mut Table, routing: &str, parameters: bool) -> Result<Option<String>, String> {
    let mut axes = Vec::new();
    collect_axes(sweep, "", &mut axes);
    let of_routing = |key: &str| key.strip_prefix("engine.").is_some_and(|name| ROUTING.contains(&name));
    let swept = axes.iter().any(|(key, ..)| of_routing(key));
    let parameters = parameters || swept;
    let routings = axes.iter().find(|(key, ..)| key == "engine.routing").and_then(|(.., item)| item.as_array());
    let first = routings.and_then(|names| names.get(0)?.as_str().map(str::to_owned)).filter(|_| swept);
    let routing = first.as_deref().unwrap_or(routing);
    let renamed =
        axes.iter().map(|(key, _, item)| new_axis(key, item, routing, parameters)).collect::<Result<Vec<_>, _>>()?;
    if axes.iter().zip(&renamed).all(|((old, ..), new)| old == new) {
        return Ok(None);
    }
    sweep.clear();
    for ((_, key, item), new) in axes.into_iter().zip(renamed) {
        sweep.insert_formatted(&Key::new(new).with_leaf_decor(key.leaf_decor().clone()), item);
    }
    Ok(first)
}

fn new_axis(key: &str, item: &Item, routing: &str, parameters: bool) -> Result<String, String> {
    let lists = item.as_array().is_some_and(|values: &Array| values.iter().any(Value::is_array));
    match key.strip_prefix("engine.") {
        Some("traffic") => Ok("job.*.traffic.name".to_owned()),
        Some(name) if PER_JOB.contains(&name) && lists => {
            Err(format!("the sweep of '{key}' has a list for all jobs; write an axis for each job instead"))
        }
        Some(name) if TRAFFIC.contains(&name) => Ok(format!("job.*.traffic.{name}")),
        Some(name) if ROUTING.contains(&name) => Ok(format!("engine.routing.{}", of_routing(routing, name))),
        Some("routing") if parameters => Ok("engine.routing.name".to_owned()),
        _ => Ok(key.to_owned()),
    }
}

/// Says the version at the top, after the comments that head the file.
fn marked(mut document: DocumentMut) -> String {
    if document.contains_key("format") {
        document["format"] = value(VERSION);
        return document.to_string();
    }
    let text = document.to_string();
    let heading = |line: &&str| line.starts_with('#') || line.trim().is_empty();
    let start: usize = text.split_inclusive('\n').take_while(heading).map(str::len).sum();
    format!("{}format = {VERSION}\n\n{}", &text[..start], &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str =
        "# Uniform traffic on two jobs.\n[machine]\npreset = \"dragonfly-1056\"\n\n[[job]]\nranks = 528 # half\n\
        pattern = \"uniform\"\n\n[[job]]\nranks = 528\npattern = \"uniform\"\n\n[engine]\nkind = \"packet\"\n\
        routing = \"ugal-g\"\nthreshold = 1.5 # of the paper\ntraffic = \"open\"\nload = [0.5, 0.25]\nburst = 2\n\
        measure = \"10 us\"\n\n[sweep]\n\"engine.routing\" = [\"ugal-g\", \"par\"]\n\"engine.load\" = [0.1, 0.9]\n";

    #[test]
    fn every_key_finds_its_new_place() {
        let new = upgrade(OLD, "old.toml").unwrap();
        let expected = "# Uniform traffic on two jobs.\nformat = 3\n\n[machine]\npreset = \"dragonfly-1056\"\n\n[[job]]\n\
            ranks = 528 # half\npattern = \"uniform\"\ntraffic = { name = \"open\", load = 0.5, burst = 2 }\n\n[[job]]\n\
            ranks = 528\npattern = \"uniform\"\ntraffic = { name = \"open\", load = 0.25, burst = 2 }\n\n[engine]\n\
            kind = \"packet\"\nrouting = { name = \"ugal-g\", threshold = 1.5 }\nmeasure = \"10 us\"\n\n[sweep]\n\
            \"engine.routing.name\" = [\"ugal-g\", \"par\"]\n\"job.*.traffic.load\" = [0.1, 0.9]\n";
        assert_eq!(new, expected);
        // What is new already stays.
        assert_eq!(upgrade(&new, "new.toml").unwrap(), new);
    }

    /// Dots without quotes make tables; a routing whose parameters are swept is named in a table.
    #[test]
    fn axes_of_a_sweep_may_be_dotted() {
        let old = "[engine]\nkind = \"packet\"\n\n[sweep] # all\nengine.routing = [\"ugal-g\", \"par\"]\nengine.bias = [\"0 B\", \"2 KiB\"] # first\n";
        let new = "format = 3\n\n[engine]\nkind = \"packet\"\nrouting = \"ugal-g\"\n\n[sweep] # all\n\"engine.routing.name\" = [\"ugal-g\", \"par\"]\n\
            \"engine.routing.bias\" = [\"0 B\", \"2 KiB\"] # first\n";
        assert_eq!(upgrade(old, "x.toml").unwrap(), new);
    }

    /// What the flow engine's `ugal` compares counts hops, so its parameters are called apart.
    #[test]
    fn parameters_of_the_flow_engines_ugal_are_renamed() {
        let old = "[engine]\nrouting = \"ugal\"\nthreshold = 1.5\n\n[sweep]\n\"engine.bias\" = [0, 1]\n";
        let new = "format = 3\n\n[engine]\nrouting = { name = \"ugal\", hop_threshold = 1.5 }\n\n[sweep]\n\
            \"engine.routing.bias_load_hops\" = [0, 1]\n";
        assert_eq!(upgrade(old, "x.toml").unwrap(), new);
    }

    #[test]
    fn a_file_without_what_moved_only_says_its_version() {
        let old = "[machine]\npreset = \"edison\"\n\n[[job]]\nranks = 4\npattern = \"spread\"\n";
        assert_eq!(upgrade(old, "x.toml").unwrap(), format!("format = 3\n\n{old}"));
    }

    #[test]
    fn what_has_no_equal_is_refused() {
        let lists = OLD.replace("[0.1, 0.9]", "[[0.1, 0.2], [0.9, 0.8]]");
        let message = upgrade(&lists, "old.toml").unwrap_err().to_string();
        assert!(message.contains("an axis for each job"), "{message}");
        assert!(upgrade("a = ", "x.toml").unwrap_err().to_string().contains("x.toml"));
    }
}
