//! What is found wrong while a file is read.

use crate::problem::{Problem, ProblemKind, Problems};
use crate::tree::{Document, Place};

/// Maximum reported problems; further ones are counted. A file that was meant for something else has one on each line.
const PROBLEMS_MAX: usize = 100;

/// The problems found so far.
#[derive(Debug)]
pub struct Report<'d> {
    /// The document that is read.
    pub document: &'d Document,
    /// In which section a key stands, if it is one of any.
    pub(crate) owner_of: fn(&str) -> Option<String>,
    problems: Vec<(Option<Place>, Problem)>,
    /// Number of problems after the last reported one.
    untold: usize,
}

impl<'d> Report<'d> {
    /// A report without problems.
    pub const fn new(document: &'d Document) -> Self {
        Self::of_sections(document, |_| None)
    }

    /// The same, which says of an unknown key in which other section it stands.
    pub const fn of_sections(document: &'d Document, owner_of: fn(&str) -> Option<String>) -> Self {
        Self { document, owner_of, problems: Vec::new(), untold: 0 }
    }

    /// A problem at a place.
    pub fn add(&mut self, kind: ProblemKind, place: Place, message: impl Into<String>, help: Option<String>) {
        self.push(kind, Some(place), message, help);
    }

    /// A problem of the file as a whole.
    pub fn add_general(&mut self, kind: ProblemKind, message: impl Into<String>, help: Option<String>) {
        self.push(kind, None, message, help);
    }

    fn push(&mut self, kind: ProblemKind, place: Option<Place>, message: impl Into<String>, help: Option<String>) {
        if self.problems.len() >= PROBLEMS_MAX {
            self.untold += 1;
        } else {
            self.problems.push((place, self.document.problem(kind, place, message.into(), help)));
        }
    }

    /// `value` if there is no problem, else all of them.
    pub fn finish<T>(self, value: T) -> Result<T, Problems> {
        if self.problems.is_empty() {
            Ok(value)
        } else {
            Err(self.into_problems())
        }
    }

    /// All problems in the order of the file, then the problems of overrides.
    pub fn into_problems(mut self) -> Problems {
        self.problems.sort_by_key(|(place, _)| place.map_or((0, 0), |p| (p.source, p.start)));
        self.problems.dedup_by(|(_, a), (_, b)| a == b);
        let mut problems: Vec<_> = self.problems.into_iter().map(|(_, problem)| problem).collect();
        if let (Some(last), true) = (problems.last(), self.untold > 0) {
            let message = format!("{} mistakes more are not shown", self.untold);
            problems.push(Problem { message, location: None, help: None, ..last.clone() });
        }
        Problems(problems)
    }
}

/// Why a value is not of a kind.
pub struct Mismatch {
    kind: ProblemKind,
    place: Place,
    message: String,
    help: Option<String>,
}

impl Mismatch {
    /// Of a kind at a place.
    pub fn new(kind: ProblemKind, place: Place, message: String, help: Option<String>) -> Self {
        Self { kind, place, message, help }
    }

    /// Whether it is of this kind.
    pub fn is(&self, kind: ProblemKind) -> bool {
        self.kind == kind
    }

    /// Whether it is about a part of the value at a place.
    pub fn is_inside(&self, place: Place) -> bool {
        self.place != place
    }

    /// The same, with what else could have been written.
    pub fn expecting(mut self, key: &str, expected: &str) -> Self {
        let wanted = format!("'{key}' must be {expected}");
        if !self.message.starts_with(&wanted) {
            let help = self.help.take().map_or(String::new(), |help| format!("; {help}"));
            self.help = Some(format!("expected {expected}{help}"));
        }
        self
    }

    /// Adds it to the problems.
    pub fn report(self, report: &mut Report<'_>) {
        report.add(self.kind, self.place, self.message, self.help);
    }

    #[cfg(test)]
    pub(crate) fn to_line(&self) -> String {
        let help = self.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        format!("{}: {}{help}", self.kind.name(), self.message)
    }
}
