//! The text form.
//!
//! ```text
//! file     = "num_ranks" INT  { "rank" INT "{" { line } "}" }
//! line     = [ label ":" ] op | label ("requires" | "irequires") label | comment | nothing
//! op       = "send" INT "b" "to" INT     [ "tag" (INT | "-1") ] [ "cpu" INT ] [ "nic" INT ]
//!          | "recv" INT "b" "from" (INT | "-1") [ "tag" (INT | "-1") ] [ "cpu" INT ] [ "nic" INT ]
//!          | "calc" INT [ "cpu" INT ]
//! comment  = "//" to the end of the line | "/*" to "*/"
//! ```
//! Ranks come in order. A label is known in its rank, from its line on; the first of two equal labels counts.

use super::operation::{Kind, Operation};
use crate::input::Lines;
use crate::task::{Dependency, Event, RankTasks, Task, TaskGraph, ANY};
use std::collections::HashMap;
use std::io::BufRead;

const RANKS: &str = "num_ranks";

/// Whether the first word, after comments and blanks, begins the text form.
pub(super) fn is_text(start: &[u8]) -> bool {
    let mut rest = start.trim_ascii_start();
    loop {
        let end: &[u8] = match rest {
            [b'/', b'/', ..] => b"\n",
            [b'/', b'*', ..] => b"*/",
            _ => return rest.starts_with(RANKS.as_bytes()),
        };
        let Some(at) = rest.windows(end.len()).position(|window| window == end) else { return false };
        rest = rest[at + end.len()..].trim_ascii_start();
    }
}

pub(super) fn read(label: &str, input: &mut dyn BufRead) -> Result<TaskGraph, String> {
    let mut lines = Lines::new(label, input);
    let mut parser = Parser::default();
    parser.graph.place_word = "line";
    let mut number = 0;
    while let Some(line) = lines.next()? {
        number += 1;
        if let Err(reason) = parser.line(number, line) {
            return Err(lines.mistake(&reason));
        }
    }
    parser.end().map_err(|reason| lines.mistake(&reason))
}

/// The rank of the current lines.
#[derive(Default)]
struct OpenRank {
    tasks: Vec<Task>,
    /// The line of each.
    places: Vec<Option<u64>>,
    waits: Vec<(u32, Dependency)>,
    labels: HashMap<Box<str>, u32>,
}

#[derive(Default)]
struct Parser {
    /// Number of ranks, once it was read.
    ranks: Option<u32>,
    graph: TaskGraph,
    open: Option<OpenRank>,
    in_comment: bool,
}

impl Parser {
    fn line(&mut self, number: u64, line: &str) -> Result<(), String> {
        let mut rest = line.trim_start();
        loop {
            if self.in_comment {
                let Some(end) = rest.find("*/") else { return Ok(()) };
                self.in_comment = false;
                rest = rest[end + 2..].trim_start();
            } else if let Some(comment) = rest.strip_prefix("/*") {
                self.in_comment = true;
                rest = comment;
            } else {
                break;
            }
        }
        if rest.is_empty() || rest.starts_with("//") {
            return Ok(());
        }
        let mut words = Words::new(rest);
        let Some(ranks) = self.ranks else {
            words.expect(RANKS)?;
            self.ranks = Some(words.number("the number of ranks")?);
            return words.end();
        };
        let Some(open) = &mut self.open else {
            let next = self.graph.ranks.len();
            words.expect("rank")?;
            let rank: u32 = words.number("a rank")?;
            if rank as usize != next || rank >= ranks {
                let expected =
                    if next < ranks as usize { format!("rank {next}") } else { "the end of the file".into() };
                return Err(format!("rank {rank}; expected {expected}: {ranks} ranks, in order"));
            }
            words.expect("{")?;
            self.open = Some(OpenRank::default());
            return words.end();
        };
        if rest.starts_with('}') {
            words.expect("}")?;
            let OpenRank { tasks, places, waits, .. } = self.open.take().expect("an open rank");
            self.graph.ranks.push(RankTasks::new(tasks, &waits).with_places(places));
            return words.end();
        }
        open.line(&mut words, ranks)?;
        open.places.resize(open.tasks.len(), Some(number));
        Ok(())
    }

    fn end(self) -> Result<TaskGraph, String> {
        let next = self.graph.ranks.len();
        match self.ranks {
            None => Err(format!("the file ends; expected '{RANKS}'")),
            Some(_) if self.in_comment => Err("the file ends in a comment; expected '*/'".into()),
            Some(_) if self.open.is_some() => Err(format!("the file ends in rank {next}; expected '}}'")),
            Some(ranks) if next < ranks as usize => Err(format!("the file ends; expected rank {next} of {ranks}")),
            Some(_) => Ok(self.graph),
        }
    }
}

impl OpenRank {
    /// An operation or a dependency.
    fn line(&mut self, words: &mut Words<'_>, ranks: u32) -> Result<(), String> {
        let first = words.word("an operation or a label")?;
        let kind = match first {
            "send" | "recv" | "calc" => first,
            label => match words.word("':', 'requires' or 'irequires' after a label")? {
                ":" => {
                    // The first of two labels counts.
                    let number = self.tasks.len() as u32;
                    self.labels.entry(label.into()).or_insert(number);
                    words.word("'send', 'recv' or 'calc'")?
                }
                "requires" => return self.wait(label, words, Event::End),
                "irequires" => return self.wait(label, words, Event::Start),
                other => return Err(format!("'{other}'; expected ':', 'requires' or 'irequires' after a label")),
            },
        };
        let mut operation = match kind {
            "send" => {
                let size = words.size()?;
                words.expect("to")?;
                let peer = words.number("a rank")?;
                Operation { kind: Kind::Send, size, peer, tag: 0, cpu: 0, nic: 0 }
            }
            "recv" => {
                let size = words.size()?;
                words.expect("from")?;
                let peer = words.number_or_any("a rank")?;
                Operation { kind: Kind::Receive, size, peer, tag: 0, cpu: 0, nic: 0 }
            }
            "calc" => {
                let size = words.number("a duration in ns")?;
                Operation { kind: Kind::Compute, size, peer: 0, tag: 0, cpu: 0, nic: 0 }
            }
            other => return Err(format!("'{other}'; expected 'send', 'recv' or 'calc'")),
        };
        let is_message = operation.kind != Kind::Compute;
        if is_message && words.skip("tag") {
            operation.tag = words.number_or_any("a tag")?;
        }
        if words.skip("cpu") {
            operation.cpu = words.number("a processor, 0 to 255")?;
        }
        if is_message && words.skip("nic") {
            operation.nic = words.number("a NIC, 0 to 255")?;
        }
        words.end()?;
        if self.tasks.len() == u32::MAX as usize {
            return Err(format!("too many operations in a rank; expected at most {}", u32::MAX));
        }
        self.tasks.push(operation.task(ranks)?);
        Ok(())
    }

    fn wait(&mut self, label: &str, words: &mut Words<'_>, event: Event) -> Result<(), String> {
        let other = words.word("the label of another operation")?;
        words.end()?;
        let known = |label: &str| {
            let unknown = || format!("label '{label}'; expected the label of an operation above, in this rank");
            self.labels.get(label).copied().ok_or_else(unknown)
        };
        let waits = (known(label)?, Dependency { on: known(other)?, event });
        self.waits.push(waits);
        Ok(())
    }
}

/// Words, numbers and single characters of a line. Blanks between a number and its unit are optional.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn new(line: &'a str) -> Self {
        Self { rest: line.trim() }
    }

    /// The next word without taking it. Empty at the end.
    fn peek(&self) -> &'a str {
        let class = |c: char| match c {
            '0'..='9' => 0,
            'a'..='z' | 'A'..='Z' => 1,
            _ => 2,
        };
        let Some(first) = self.rest.chars().next() else { return "" };
        let end = match class(first) {
            0 => self.rest.find(|c| class(c) != 0),
            1 => self.rest.find(|c| class(c) == 2 && c != '_'),
            _ => Some(first.len_utf8()),
        };
        &self.rest[..end.unwrap_or(self.rest.len())]
    }

    fn take(&mut self) -> &'a str {
        let word = self.peek();
        self.rest = self.rest[word.len()..].trim_start();
        word
    }

    fn word(&mut self, expected: &str) -> Result<&'a str, String> {
        match self.take() {
            "" => Err(format!("the line ends; expected {expected}")),
            word => Ok(word),
        }
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        let expected = format!("'{word}'");
        let found = self.word(&expected)?;
        if found == word {
            return Ok(());
        }
        Err(format!("'{found}'; expected {expected}"))
    }

    /// Takes a word if it is next.
    fn skip(&mut self, word: &str) -> bool {
        let is_next = self.peek() == word;
        if is_next {
            self.take();
        }
        is_next
    }

    fn number<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, String> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| format!("'{word}'; expected {expected}"))
    }

    /// A number of 32 bits, or -1 for a wildcard.
    fn number_or_any(&mut self, expected: &str) -> Result<u32, String> {
        let expected = format!("{expected}, or -1 for any");
        if self.skip("-") {
            let one: u32 = self.number(&expected)?;
            return if one == 1 { Ok(ANY) } else { Err(format!("-{one}; expected {expected}")) };
        }
        match self.number(&expected)? {
            ANY => Err(format!("{ANY}; expected {expected}")),
            number => Ok(number),
        }
    }

    fn size(&mut self) -> Result<u64, String> {
        let size = self.number("a size in bytes")?;
        self.expect("b")?;
        Ok(size)
    }

    fn end(&self) -> Result<(), String> {
        match self.peek() {
            "" => Ok(()),
            "/" => Err("'/'; expected the end of the line: a comment has a line of its own".into()),
            word => Err(format!("'{word}'; expected the end of the line")),
        }
    }
}
