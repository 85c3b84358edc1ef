//! Overrides: `KEY=VALUE` on the command line, put into the document before it is read.
//!
//! KEY is a dotted path (`engine.seed`, `machine.class.blue.bandwidth`). A job is found by its name or its number from
//! 0, and `*` means all jobs (`job.fft.ranks`, `job.0.ranks`, `job.*.placement`). VALUE is a TOML value; what is none, as
//! `4 MiB` or `-K`, is a text.

use crate::problem::{ProblemKind, Problems};
use crate::tree::{self, Document, Entry, Node, Place, Raw, Table};
use odonata_declare::nearest;
use toml::de::DeValue;

/// One step of a path.
#[derive(Clone, PartialEq, Debug)]
struct Step {
    name: String,
    place: Place,
}

/// Why an override can't be applied.
struct Refusal {
    place: Place,
    message: String,
    help: Option<String>,
}

/// Whether a key may name a variant.
type Variants = fn(&str) -> bool;

type OverrideResult<T> = Result<T, Refusal>;

fn refuse<T>(place: Place, message: impl Into<String>, help: impl Into<Option<String>>) -> OverrideResult<T> {
    Err(Refusal { place, message: message.into(), help: help.into() })
}

/// Applies overrides in order; a later one wins.
///
/// `variants` says of a key whether it may name a variant, so that the name is short for a table.
pub fn apply<S: AsRef<str>>(document: &mut Document, overrides: &[S], variants: Variants) -> Result<(), Problems> {
    let mut problems = Vec::new();
    for text in overrides {
        let source = document.add_override(text.as_ref());
        let applied = parse(document.text(source), document.whole(source))
            .and_then(|(path, node)| set(&mut document.root, &path, node, variants));
        if let Err(Refusal { place, message, help }) = applied {
            problems.push(document.problem(ProblemKind::Override, Some(place), message, help));
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Problems(problems))
    }
}

/// Splits `KEY=VALUE`.
fn parse(text: &str, whole: Place) -> OverrideResult<(Vec<Step>, Node)> {
    let steps = parse_path(text, whole)?;
    let (path, equals) = steps;
    let start = equals + 1 + (text[equals + 1..].len() - text[equals + 1..].trim_start().len());
    let value = text[start..].trim_end();
    let place = Place { start, end: start + value.len(), ..whole };
    if value.is_empty() {
        return refuse(place, "there is no value after '='", Some("an empty text is written `KEY=\"\"`".to_owned()));
    }
    let raw = match DeValue::parse(value) {
        Ok(parsed) if matches!(parsed.get_ref(), DeValue::Datetime(_)) => Raw::Text(value.into()),
        Ok(parsed) => return Ok((path, tree::node(parsed, whole.source, start))),
        // What starts like a list, a table or a quoted text is meant as one.
        Err(error) if value.starts_with(['[', '{', '"', '\'']) => {
            let span = error.span().unwrap_or(0..0);
            let at = Place { start: start + span.start, end: start + span.end, ..whole };
            return refuse(at, format!("this is no TOML value: {}", error.message()), None);
        }
        Err(_) => Raw::Text(value.into()),
    };
    Ok((path, Node { place, raw }))
}

/// The steps of the path before the first `=` outside quotes, and where that is.
fn parse_path(text: &str, whole: Place) -> OverrideResult<(Vec<Step>, usize)> {
    let help = || Some("write it as KEY=VALUE, like `engine.seed=2` or `job.fft.ranks=1024`".to_owned());
    let mut steps = Vec::new();
    let mut start = 0;
    let mut quote: Option<char> = None;
    for (i, c) in text.char_indices() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '.' || c == '=' => {
                let place = Place { start, end: i, ..whole };
                let name = text[start..i].trim().trim_matches(['"', '\'']).to_owned();
                if name.is_empty() {
                    return refuse(place, "a name is missing in the key", help());
                }
                steps.push(Step { name, place });
                if c == '=' {
                    return Ok((steps, i));
                }
                start = i + 1;
            }
            None => {}
        }
    }
    refuse(whole, "an override has no '='", help())
}

/// Puts `node` at `path`.
fn set(root: &mut Table, path: &[Step], node: Node, variants: Variants) -> OverrideResult<()> {
    let (first, rest) = path.split_first().expect("a path has at least one step");
    match root.get_mut(&first.name) {
        Some(Entry { node: Node { raw: Raw::List(jobs), .. }, .. }) if first.name == "job" && !rest.is_empty() => {
            set_in_jobs(jobs, &rest[0], &rest[1..], node, variants)
        }
        Some(Entry { node: Node { raw: Raw::Table(axes), .. }, .. }) if first.name == "sweep" && !rest.is_empty() => {
            let key: Vec<&str> = rest.iter().map(|step| step.name.as_str()).collect();
            set_axis(axes, &key.join("."), rest[0].place, node);
            Ok(())
        }
        None if first.name == "job" && !rest.is_empty() => {
            refuse(first.place, "there is no job to change: the file has no [[job]]", None)
        }
        _ => set_in_table(root, path, node, variants),
    }
}

/// Sets an axis of the sweep by its dotted key, whether the file has the dots in quotes or not.
fn set_axis(axes: &mut Table, key: &str, place: Place, node: Node) {
    match axis_mut(axes, key) {
        Some(axis) => *axis = node,
        None => axes.entries.push(Entry { key: key.to_owned(), place, node }),
    }
}

fn axis_mut<'t>(axes: &'t mut Table, key: &str) -> Option<&'t mut Node> {
    axes.entries.iter_mut().find_map(|Entry { key: own, node, .. }| {
        let rest = key.strip_prefix(own.as_str())?;
        match rest.strip_prefix('.') {
            None => rest.is_empty().then_some(node),
            Some(rest) => match &mut node.raw {
                Raw::Table(inner) => axis_mut(inner, rest),
                _ => None,
            },
        }
    })
}

fn set_in_jobs(jobs: &mut [Node], which: &Step, rest: &[Step], node: Node, variants: Variants) -> OverrideResult<()> {
    if rest.is_empty() {
        let help = format!("write `job.{}.KEY=VALUE`", which.name);
        return refuse(which.place, "a job as a whole can't be replaced", Some(help));
    }
    let count = jobs.len();
    let names: Vec<String> = (0..count).map(|i| job_name(&jobs[i], i)).collect();
    let chosen: Vec<usize> = match which.name.parse::<usize>() {
        _ if which.name == "*" => (0..count).collect(),
        _ if names.contains(&which.name) => (0..count).filter(|&i| names[i] == which.name).collect(),
        Ok(index) if index < count => vec![index],
        Ok(index) => {
            let message = format!("there is no job {index}; the file has {count} of them, counted from 0");
            return refuse(which.place, message, None);
        }
        Err(_) => {
            let known = names.iter().map(String::as_str);
            let help = match nearest(&which.name, known) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("jobs: {}; or a number from 0, or * for all", names.join(", ")),
            };
            return refuse(which.place, format!("there is no job '{}'", which.name), Some(help));
        }
    };
    for job in chosen {
        match &mut jobs[job].raw {
            Raw::Table(table) => set_in_table(table, rest, node.clone(), variants)?,
            _ => return refuse(which.place, format!("job {job} is not a table"), None),
        }
    }
    Ok(())
}

/// The name of a job, as it is given or counted.
pub fn job_name(job: &Node, index: usize) -> String {
    let given = match &job.raw {
        Raw::Table(table) => table.get("name"),
        _ => None,
    };
    match given.map(|entry| &entry.node.raw) {
        Some(Raw::Text(name)) => name.clone(),
        _ => format!("job{index}"),
    }
}

fn set_in_table(table: &mut Table, path: &[Step], node: Node, variants: Variants) -> OverrideResult<()> {
    let (first, rest) = path.split_first().expect("a path has at least one step");
    let position = table.entries.iter().position(|entry| entry.key == first.name);
    if rest.is_empty() {
        let entry = Entry { key: first.name.clone(), place: first.place, node };
        match position {
            Some(position) => table.entries[position] = entry,
            None => table.entries.push(entry),
        }
        return Ok(());
    }
    let position = position.unwrap_or_else(|| {
        let raw = Raw::Table(Table::default());
        table.entries.push(Entry {
            key: first.name.clone(),
            place: first.place,
            node: Node { place: first.place, raw },
        });
        table.entries.len() - 1
    });
    let entry = &mut table.entries[position];
    name_to_table(entry, variants);
    match &mut entry.node.raw {
        Raw::Table(inner) => set_in_table(inner, rest, node, variants),
        // Variants in a list go by their number.
        Raw::List(items) if variants(&first.name) && rest.len() > 1 => {
            let count = items.len();
            let Some(item) = rest[0].name.parse().ok().and_then(|number: usize| items.get_mut(number)) else {
                let message = format!("'{}' has {count} of them, counted from 0", first.name);
                return refuse(rest[0].place, message, Some(format!("write `{}.0.KEY=VALUE`", first.name)));
            };
            let mut entry = Entry { key: first.name.clone(), place: item.place, node: item.clone() };
            name_to_table(&mut entry, variants);
            let Raw::Table(inner) = &mut entry.node.raw else {
                return refuse(rest[0].place, format!("'{}.{}' is no table", first.name, rest[0].name), None);
            };
            set_in_table(inner, &rest[1..], node, variants)?;
            *item = entry.node;
            Ok(())
        }
        other => refuse(rest[0].place, format!("'{}' is {}, so it has no keys", first.name, other.noun()), None),
    }
}

/// `pattern = "spread"` is short for `pattern = { name = "spread" }`, and so it is wherever a variant is named.
fn name_to_table(entry: &mut Entry, variants: Variants) {
    if matches!(entry.node.raw, Raw::Text(_)) && variants(&entry.key) {
        let name = Entry { key: "name".into(), place: entry.place, node: entry.node.clone() };
        entry.node.raw = Raw::Table(Table { entries: vec![name] });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[machine]\npreset = 'edison'\n[[job]]\nname = 'fft'\nranks = 4\npattern = 'spread'\n\
                        [[job]]\nname = 'halo'\nranks = 8\n";

    fn variants(key: &str) -> bool {
        key == "pattern"
    }

    fn applied(overrides: &[&str]) -> Result<Document, Problems> {
        let mut document = Document::parse(FILE, "x.toml").unwrap();
        apply(&mut document, overrides, variants).map(|()| document)
    }

    fn value(document: &Document, section: &str, job: usize, key: &str) -> String {
        let table = match &document.root.get(section).unwrap().node.raw {
            Raw::Table(table) => table,
            Raw::List(items) => match &items[job].raw {
                Raw::Table(table) => table,
                _ => panic!("a table"),
            },
            _ => panic!("a section"),
        };
        match &table.get(key).unwrap().node.raw {
            Raw::Text(text) => format!("text {text}"),
            Raw::Integer(n) => format!("integer {n}"),
            Raw::List(items) => format!("list of {}", items.len()),
            Raw::Table(table) => table.entries.iter().map(|e| e.key.as_str()).collect::<Vec<_>>().join(" "),
            other => other.noun().into(),
        }
    }

    fn refused(text: &str) -> (usize, String) {
        let problems = applied(&[text]).unwrap_err();
        let problem = &problems.0[0];
        assert_eq!(problem.file, "--set");
        let location = problem.location.as_ref().unwrap();
        assert_eq!((location.line, location.source.as_str()), (1, text));
        (location.column, format!("{}; {}", problem.message, problem.help.clone().unwrap_or_default()))
    }

    #[test]
    fn values_are_toml_or_text() {
        let document = applied(&[
            "engine.seed=7",
            "engine.routing=ugal",
            "machine.edit=[\"-K\", '+B']",
            "machine.class.blue.bandwidth=4.7 GB/s",
            "machine.note = \"quoted\" ",
            "machine.day=2024-05-06",
        ])
        .unwrap();
        assert_eq!(value(&document, "engine", 0, "seed"), "integer 7");
        assert_eq!(value(&document, "engine", 0, "routing"), "text ugal");
        assert_eq!(value(&document, "machine", 0, "edit"), "list of 2");
        assert_eq!(value(&document, "machine", 0, "class"), "blue");
        assert_eq!(value(&document, "machine", 0, "note"), "text quoted");
        assert_eq!(value(&document, "machine", 0, "day"), "text 2024-05-06");
    }

    #[test]
    fn jobs_go_by_name_number_or_star() {
        let document =
            applied(&["job.fft.ranks=1", "job.1.ranks=2", "job.*.seed=3", "job.fft.pattern.bytes=1 B"]).unwrap();
        assert_eq!(value(&document, "job", 0, "ranks"), "integer 1");
        assert_eq!(value(&document, "job", 1, "ranks"), "integer 2");
        assert_eq!(value(&document, "job", 0, "seed"), "integer 3");
        assert_eq!(value(&document, "job", 1, "seed"), "integer 3");
        assert_eq!(value(&document, "job", 0, "pattern"), "name bytes");
    }

    /// An axis is the same with its dots in quotes and without.
    #[test]
    fn axes_of_a_sweep_go_by_their_dotted_key() {
        let file = "[sweep]\nengine.seed = [1]\n\"job.*.ranks\" = [2, 3]\n";
        let mut document = Document::parse(file, "x.toml").unwrap();
        let changes = ["sweep.'engine.seed'=[4]", "sweep.job.*.ranks=[5]", "sweep.engine.routing=['min']"];
        apply(&mut document, &changes, variants).unwrap();
        let Raw::Table(axes) = &document.root.get("sweep").unwrap().node.raw else { panic!("a table") };
        let keys: Vec<&str> = axes.entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["engine", "job.*.ranks", "engine.routing"]);
        let Raw::Table(engine) = &axes.entries[0].node.raw else { panic!("a table") };
        assert!(
            matches!(&engine.get("seed").unwrap().node.raw, Raw::List(items) if matches!(items[0].raw, Raw::Integer(4)))
        );
        assert!(matches!(&axes.entries[1].node.raw, Raw::List(items) if items.len() == 1));
    }

    #[test]
    fn the_last_override_wins() {
        let document = applied(&["engine.seed=1", "engine.seed=2"]).unwrap();
        assert_eq!(value(&document, "engine", 0, "seed"), "integer 2");
    }

    #[test]
    fn refusals_point_at_the_override() {
        assert_eq!(refused("engine.seed").0, 1);
        assert_eq!(
            refused("engine..seed=1"),
            (
                8,
                "a name is missing in the key; write it as KEY=VALUE, like `engine.seed=2` or `job.fft.ranks=1024`"
                    .into()
            )
        );
        assert_eq!(refused("engine.seed= ").1, "there is no value after '='; an empty text is written `KEY=\"\"`");
        assert_eq!(refused("job.ftt.ranks=1"), (5, "there is no job 'ftt'; did you mean 'fft'?".into()));
        assert_eq!(refused("job.7.ranks=1"), (5, "there is no job 7; the file has 2 of them, counted from 0; ".into()));
        assert_eq!(refused("job.fft=1").0, 5);
        assert_eq!(refused("machine.preset.x=1"), (16, "'preset' is a text, so it has no keys; ".into()));
        let (column, message) = refused("machine.edit=[\"-K\"");
        assert!(column >= 14 && message.starts_with("this is no TOML value"), "{column} {message}");
    }
}
