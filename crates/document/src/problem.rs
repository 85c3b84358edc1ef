//! What is wrong with an experiment, as data and as text for people.

use odonata_declare::{foreign_note, nearest};
use std::fmt;

/// The name of the file under which problems of an override are reported.
pub(crate) const OVERRIDE: &str = "--set";

/// The kind of a mistake, for programs that read problems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProblemKind {
    /// The text is no TOML.
    Syntax,
    /// A key that does not exist in its table.
    UnknownKey,
    /// A key that must be there is not.
    MissingKey,
    /// A value of the wrong type.
    Type,
    /// A quantity without a unit, or with one of another kind.
    Unit,
    /// A value outside its range.
    Value,
    /// A name that is none: of a preset, a pattern, a routing, a class.
    Name,
    /// Two things that exclude each other.
    Conflict,
    /// An override that can't be applied.
    Override,
    /// A file that can't be read.
    File,
    /// The parts are fine but make no machine.
    Machine,
    /// The parts are fine but make no workload.
    Workload,
    /// The engine refuses what it is given.
    Engine,
}

impl ProblemKind {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::UnknownKey => "unknown-key",
            Self::MissingKey => "missing-key",
            Self::Type => "type",
            Self::Unit => "unit",
            Self::Value => "value",
            Self::Name => "name",
            Self::Conflict => "conflict",
            Self::Override => "override",
            Self::File => "file",
            Self::Machine => "machine",
            Self::Workload => "workload",
            Self::Engine => "engine",
        }
    }
}

/// Where a problem is: a stretch of one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The text of the line, without its end.
    pub source: String,
    /// The part of it that is wrong; may be empty at the end of a line.
    pub span: String,
}

/// One mistake: what is wrong, where, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// The experiment file as it was named, or `--set` for an override.
    pub file: String,
    /// The place, if there is one.
    pub location: Option<Location>,
    /// What is wrong and what was expected.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl fmt::Display for Problem {
    /// The message, the place, the line with a caret under the mistake, and the help.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        let Some(location) = &self.location else {
            write!(f, "\n  --> {}", self.file)?;
            return self.fmt_help(f, 1);
        };
        let Location { line, column, source, span } = location;
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        // Tabs are as wide as the terminal likes: one space each, above the caret and in its line.
        let source = source.replace(|c: char| c.is_control(), " ");
        let length = span.chars().count().max(1);
        let Excerpt { source, before, length } = Excerpt::of(&source, *column - 1, length);
        let carets = "^".repeat(length);
        write!(f, "\n {gutter}--> {}", self.file)?;
        // An override is one line, which stands below.
        if self.file != OVERRIDE {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, "\n {gutter} |\n {number} | {source}\n {gutter} | {}{carets}", " ".repeat(before))?;
        self.fmt_help(f, number.len())
    }
}

/// A longer line is shown around its mistake only. Lists of nodes on one line are long, and so are files that are no TOML.
const SHOWN_MAX: usize = 240;

/// As much of a line as is shown, and where in it the mistake is, in characters.
struct Excerpt {
    source: String,
    before: usize,
    length: usize,
}

impl Excerpt {
    fn of(source: &str, before: usize, length: usize) -> Self {
        if source.chars().count() <= SHOWN_MAX {
            return Self { source: source.to_owned(), before, length };
        }
        let left_out = before.saturating_sub(SHOWN_MAX / 3);
        let start = if left_out > 0 { "... " } else { "" };
        let mut rest = source.chars().skip(left_out);
        let shown: String = rest.by_ref().take(SHOWN_MAX).collect();
        let end = if rest.next().is_some() { " ..." } else { "" };
        let length = length.min(SHOWN_MAX - (before - left_out)).max(1);
        Self { source: format!("{start}{shown}{end}"), before: start.len() + before - left_out, length }
    }
}

impl Problem {
    /// The text of the override in which the problem is, if it is in one.
    pub fn override_text(&self) -> Option<&str> {
        self.location.as_ref().filter(|_| self.file == OVERRIDE).map(|location| location.source.as_str())
    }

    /// Whether it is in the key of an override, before the `=`.
    pub fn is_of_key(&self) -> bool {
        let Some(Location { column, source, span, .. }) = self.location.as_ref().filter(|_| self.file == OVERRIDE)
        else {
            return false;
        };
        let key = source.split('=').next().unwrap_or_default();
        column - 1 + span.chars().count() <= key.chars().count()
    }

    /// Whether it says the same as another one, wherever.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.kind, &self.message, &self.help) == (other.kind, &other.message, &other.help)
    }

    fn fmt_help(&self, f: &mut fmt::Formatter<'_>, gutter: usize) -> fmt::Result {
        match &self.help {
            Some(help) => write!(f, "\n {} = help: {help}", " ".repeat(gutter)),
            None => Ok(()),
        }
    }
}

/// Every problem that was found, in the order of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if i > 0 { "\n\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// `did you mean 'x'?`, what a word of another program is here, or all names.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let names: Vec<&str> = known.clone().into_iter().collect();
    match (nearest(name, known.clone()), foreign_note(name, &names)) {
        (Some(near), None) => format!("did you mean '{near}'?"),
        (Some(near), Some(note)) => format!("did you mean '{near}'? ({note})"),
        (None, Some(note)) => note.to_owned(),
        (None, None) => format!("known: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_under_the_mistake() {
        let problem = Problem {
            kind: ProblemKind::UnknownKey,
            file: "wd1.toml".into(),
            location: Some(Location {
                line: 12,
                column: 3,
                source: "  patern = \"spread\"".into(),
                span: "patern".into(),
            }),
            message: "unknown key 'patern' in [[job]]".into(),
            help: Some("did you mean 'pattern'?".into()),
        };
        let expected = "error: unknown key 'patern' in [[job]]
   --> wd1.toml:12:3
    |
 12 |   patern = \"spread\"
    |   ^^^^^^
    = help: did you mean 'pattern'?";
        assert_eq!(problem.to_string(), expected);
    }

    /// A list of 100,000 numbers on one line; its 50,000th is wrong.
    #[test]
    fn of_a_long_line_what_surrounds_the_mistake_is_shown() {
        let source = format!("nodes = [{}x, {}]", "1, ".repeat(50_000), "1, ".repeat(50_000));
        let column = source.find('x').unwrap() + 1;
        let location = Location { line: 1, column, source, span: "x".into() };
        let (message, help) = ("not a number".to_owned(), None);
        let problem =
            Problem { kind: ProblemKind::Type, file: "a.toml".into(), location: Some(location), message, help };
        let text = problem.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[3].len() < SHOWN_MAX + 20, "{text}");
        assert!(lines[3].starts_with(" 1 | ... ") && lines[3].ends_with(" ..."), "{text}");
        assert_eq!(lines[3].find('x'), lines[4].find('^'), "{text}");
        let whole = Location { line: 1, column: 1, source: "y".repeat(1000), span: "y".repeat(1000) };
        let text = Problem { location: Some(whole), ..problem }.to_string();
        assert_eq!(text.matches('^').count(), SHOWN_MAX, "{text}");
    }
}
