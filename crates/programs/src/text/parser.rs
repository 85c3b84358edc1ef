//! Parses lines to a program.

mod communicators;
mod streams;

use super::cut::pieces;
use super::lines::{lines, Line};
use super::piece::MAX_DEPTH;
use super::statement::{Action, CompletionMode, Message, Slot, Slots, Statement};
use super::streams::Streams;
use super::tree::{Role, TextProgram};
use crate::call::Operation;
use odonata_declare::hint;
use odonata_expression::{Dimension, Expression, Mistake, Scope, TokenCursor, DATA_UNITS, TIME_UNITS};
use std::sync::OnceLock;

/// Names with a meaning in expressions and after calls.
const RESERVED: [&str; 15] =
    ["rank", "ranks", "from", "to", "and", "or", "not", "any", "tag", "on", "as", "root", "sizes", "until", "world"];

/// First words of lines that are not calls.
const HEADERS: [&str; 7] = ["role", "repeat", "if", "let", "table", "requests", "sizes"];
const CALLS: [&str; 19] = [
    "compute", "sleep", "send", "recv", "isend", "irecv", "wait", "waitall", "waitany", "waitsome", "test", "phase",
    "split", "create", "free", "else", "on", "record", "await",
];

pub(super) fn parse(text: &str, ranks: u32) -> Result<TextProgram, Mistake> {
    let lines = lines(text)?;
    let mut parser = Parser {
        ranks,
        lines: &lines,
        next: 0,
        scope: Scope::default(),
        slots: Vec::new(),
        named_slots: 0,
        sizes: Vec::new(),
        communicators: Vec::new(),
        phases: Vec::new(),
        streams: Streams::default(),
    };
    parser.scope.constants.push(("ranks".into(), ranks.into(), Dimension::Number));
    parser.declarations()?;
    parser.scope.variables.push(("rank".into(), 0, Dimension::Number));
    let (roles, bodies) = match parser.line().map(|line| parser.first(line)) {
        Some("role") => parser.roles()?,
        _ => {
            let body = parser.body(0, 0)?;
            (vec![Role { first: 0, last: u32::MAX, body: 0 }], vec![body])
        }
    };
    let streams = parser.streams.finish()?;
    let bodies = bodies.into_iter().map(pieces).collect::<Result<_, _>>()?;
    let roles = roles.into_iter().map(|role| Role { last: role.last.min(ranks.max(1) - 1), ..role }).collect();
    let sizes = parser.sizes.into_iter().map(|(_, size)| size).collect();
    let (phases, named_slots) = (parser.phases, parser.named_slots);
    let representatives = OnceLock::new();
    Ok(TextProgram { ranks, roles, bodies, phases, sizes, named_slots, streams, representatives })
}

struct Parser<'a> {
    ranks: u32,
    lines: &'a [Line],
    next: usize,
    scope: Scope,
    slots: Vec<(String, Slots)>,
    named_slots: u32,
    sizes: Vec<(String, (u32, Expression))>,
    /// By name. The first has number 1.
    communicators: Vec<String>,
    phases: Vec<String>,
    streams: Streams,
}

/// Limit on named slots. Each one takes memory in every rank.
const MAX_SLOTS: u32 = 1 << 16;

impl<'a> Parser<'a> {
    fn line(&self) -> Option<&'a Line> {
        self.lines.get(self.next)
    }

    /// The first word of a line, if it is a name.
    fn first(&self, line: &'a Line) -> &'a str {
        let mut words = line.all_words();
        words.name("").unwrap_or("")
    }

    fn declarations(&mut self) -> Result<(), Mistake> {
        while let Some(line) = self.line() {
            let mut words = line.words();
            match self.first(line) {
                "let" => {
                    let name = self.new_name(&mut words)?;
                    words.needs("=")?;
                    let at = words.clone();
                    let (value, dimension) = words.expression(&self.scope)?;
                    if dimension == Dimension::Truth {
                        return at.expected("a number, an amount of data or a duration");
                    }
                    let value = value.of(&[]).or_else(|reason| at.mistake(reason.into()))?;
                    self.scope.constants.push((name, value, dimension));
                }
                "table" => self.table(&mut words)?,
                "requests" => {
                    let name = self.new_name(&mut words)?;
                    let mut count = 1;
                    if words.takes("[") {
                        count = self.constant(&mut words, 1, u64::from(MAX_SLOTS - self.named_slots))?;
                        words.needs("]")?;
                    }
                    self.slots.push((name, Slots { first: self.named_slots, count }));
                    self.named_slots += count;
                }
                "sizes" => {
                    let name = self.new_name(&mut words)?;
                    words.needs("=")?;
                    let mut scope = self.scope.clone();
                    scope.variables =
                        [("from", 0), ("to", 1)].map(|(name, number)| (name.into(), number, Dimension::Number)).into();
                    let size = words.amount(&scope, Dimension::Data)?;
                    self.sizes.push((name, (line.number, size)));
                }
                _ => return Ok(()),
            }
            if line.indent > 0 {
                return Err(Mistake::new(line.number, 1, "declarations are not indented".into()));
            }
            words.end()?;
            self.next += 1;
        }
        Ok(())
    }

    /// Numbers, amounts or durations, by index from 0.
    fn table(&mut self, words: &mut TokenCursor<'_>) -> Result<(), Mistake> {
        let name = self.new_name(words)?;
        words.needs("=")?;
        let (mut numbers, mut of) = (Vec::new(), None);
        loop {
            let at = words.clone();
            let (value, dimension) = words.expression(&self.scope)?;
            if dimension == Dimension::Truth {
                return at.expected("a number, an amount of data or a duration");
            }
            if *of.get_or_insert(dimension) != dimension {
                let (all, this) = (of.unwrap_or(dimension).expected(), dimension.expected());
                return at.mistake(format!("expected {all} as before, found {this}"));
            }
            numbers.push(value.of(&[]).or_else(|reason| at.mistake(reason.into()))?);
            if !words.takes(",") {
                break;
            }
            words.again();
        }
        self.scope.tables.push((name, numbers.into(), of.unwrap_or(Dimension::Number)));
        Ok(())
    }

    /// A new name.
    fn new_name(&self, words: &mut TokenCursor<'_>) -> Result<String, Mistake> {
        let at = words.clone();
        let name = words.name("a name")?;
        let reserved = RESERVED.into_iter().chain(DATA_UNITS).chain(TIME_UNITS);
        if reserved.chain(self.scope.names()).any(|known| known == name) || self.slots.iter().any(|(n, _)| n == name) {
            return at.mistake(format!("'{name}' is already in use"));
        }
        Ok(name.into())
    }

    /// A constant number.
    fn constant(&self, words: &mut TokenCursor<'_>, least: u64, most: u64) -> Result<u32, Mistake> {
        let at = words.clone();
        let value = words.amount(&self.scope, Dimension::Number)?;
        if value.depends_from(0) {
            return at.mistake("expected a number that is the same for all ranks".into());
        }
        let value = value.of(&[]).or_else(|reason| at.mistake(reason.into()))?;
        match u64::try_from(value).ok().filter(|value| (least..=most).contains(value)) {
            Some(value) => Ok(value as u32),
            None => at.mistake(format!("{value}, expected {least} to {most}")),
        }
    }

    /// The roles. Each rank has one.
    #[allow(clippy::type_complexity)]
    fn roles(&mut self) -> Result<(Vec<Role>, Vec<Vec<Statement>>), Mistake> {
        let mut roles: Vec<(Role, u32)> = Vec::new();
        let mut bodies = Vec::new();
        let mut others = None;
        while let Some(line) = self.line() {
            if self.first(line) != "role" || line.indent > 0 {
                return Err(Mistake::new(line.number, 1, "expected 'role', since the program has roles".into()));
            }
            let mut words = line.words();
            if others.is_some() {
                return words.mistake("a role after `role others:`, which is the last one".into());
            }
            let body = bodies.len();
            if words.takes("others") {
                others = Some((line.number, body));
            } else {
                loop {
                    let first = self.rank(&mut words)?;
                    let last = if words.takes("..") { self.rank(&mut words)? } else { first };
                    let at = words.clone();
                    if last < first {
                        return at.mistake(format!("no ranks from {first} to {last}"));
                    }
                    if let Some((other, number)) = roles.iter().find(|(r, _)| r.first <= last && first <= r.last) {
                        let rank = first.max(other.first);
                        return at.mistake(format!("rank {rank} already has a role, in line {number}"));
                    }
                    roles.push((Role { first, last, body }, line.number));
                    if !words.takes(",") {
                        break;
                    }
                }
            }
            words.needs(":")?;
            words.end()?;
            self.next += 1;
            bodies.push(self.body(line.indent + 1, 0)?);
        }
        let mut roles: Vec<Role> = roles.into_iter().map(|(role, _)| role).collect();
        roles.sort_by_key(|role| role.first);
        Ok((self.filled(roles, others)?, bodies))
    }

    /// A rank of a role.
    fn rank(&self, words: &mut TokenCursor<'_>) -> Result<u32, Mistake> {
        let mut scope = self.scope.clone();
        scope.variables.clear();
        let at = words.clone();
        let value = words.amount(&scope, Dimension::Number)?;
        let value = value.of(&[]).or_else(|reason| at.mistake(reason.into()))?;
        match u32::try_from(value).ok().filter(|&rank| rank < self.ranks) {
            Some(rank) => Ok(rank),
            None => at.mistake(format!("rank {value}, but the job has ranks 0 to {}", i64::from(self.ranks) - 1)),
        }
    }

    /// Fills the gaps between roles with the role of the others.
    fn filled(&self, roles: Vec<Role>, others: Option<(u32, usize)>) -> Result<Vec<Role>, Mistake> {
        let mut filled = Vec::new();
        let mut next = 0;
        let end = Role { first: self.ranks, last: self.ranks, body: 0 };
        for role in roles.into_iter().chain([end]) {
            if role.first > next {
                let Some((_, body)) = others else {
                    let line = self.lines.last().map_or(1, |line| line.number);
                    let reason = format!(
                        "ranks {next} to {} have no role; add `role others:`, with an empty program for idle ranks",
                        role.first - 1
                    );
                    return Err(Mistake::new(line, 1, reason));
                };
                filled.push(Role { first: next, last: role.first - 1, body });
            }
            next = role.last.saturating_add(1);
            if role.first < self.ranks {
                filled.push(role);
            }
        }
        Ok(filled)
    }

    /// Statements indented equally by at least `least`.
    fn body(&mut self, least: u32, depth: usize) -> Result<Vec<Statement>, Mistake> {
        let mut statements = Vec::new();
        let mut indent = None;
        while let Some(line) = self.line().filter(|line| line.indent >= least) {
            if line.indent != *indent.get_or_insert(line.indent) {
                let reason =
                    format!("indented by {}, expected {} as in the line before", line.indent, indent.unwrap_or(0));
                return Err(Mistake::new(line.number, 1, reason));
            }
            self.next += 1;
            let action = match self.first(line) {
                "repeat" => self.repeat(line, depth)?,
                "if" => self.condition(line, depth)?,
                "on" => self.on_stream(line, depth)?,
                first => self.call(line, first)?,
            };
            statements.push(Statement { line: line.number, action });
        }
        Ok(statements)
    }

    fn nested(&mut self, line: &Line, words: &mut TokenCursor<'_>, depth: usize) -> Result<Vec<Statement>, Mistake> {
        words.needs(":")?;
        words.end()?;
        if depth == 4 * MAX_DEPTH {
            return Err(Mistake::new(line.number, 1, format!("more than {depth} nested loops and conditions")));
        }
        let body = self.body(line.indent + 1, depth + 1)?;
        match body.is_empty() {
            true => Err(Mistake::new(line.number, line.end, "expected indented lines after this one".into())),
            false => Ok(body),
        }
    }

    fn repeat(&mut self, line: &'a Line, depth: usize) -> Result<Action, Mistake> {
        let mut words = line.words();
        let at = words.clone();
        let times = words.amount(&self.scope, Dimension::Number)?;
        if times.depends_from(1) {
            return at.mistake("the count of a loop may depend on the rank, but not on other loops".into());
        }
        let variable = self.scope.variables.len();
        if variable > MAX_DEPTH {
            return at.mistake(format!("more than {MAX_DEPTH} nested loops"));
        }
        let name = if words.takes("as") { self.new_name(&mut words)? } else { String::new() };
        self.scope.variables.push((name, variable, Dimension::Number));
        let body = self.nested(line, &mut words, depth)?;
        self.scope.variables.pop();
        Ok(Action::Repeat { times, variable, body })
    }

    fn condition(&mut self, line: &'a Line, depth: usize) -> Result<Action, Mistake> {
        let mut words = line.words();
        let condition = words.amount(&self.scope, Dimension::Truth)?;
        let then = self.nested(line, &mut words, depth)?;
        let mut otherwise = Vec::new();
        if let Some(line) = self.line().filter(|other| other.indent == line.indent && self.first(other) == "else") {
            self.next += 1;
            otherwise = self.nested(line, &mut line.words(), depth)?;
        }
        Ok(Action::If { condition, then, otherwise })
    }

    fn call(&mut self, line: &'a Line, first: &str) -> Result<Action, Mistake> {
        let mut words = line.words();
        let action = match first {
            "compute" => Action::Compute(words.amount(&self.scope, Dimension::Time)?),
            "sleep" => Action::Sleep(words.amount(&self.scope, Dimension::Time)?),
            "send" | "isend" | "recv" | "irecv" => self.message(&mut words, first)?,
            "wait" if words.takes("until") => Action::WaitUntil(words.amount(&self.scope, Dimension::Time)?),
            "wait" => Action::Wait(self.slot(&mut words)?),
            "test" => Action::Test(self.slot(&mut words)?),
            "waitall" if words.is_end() => Action::WaitAllUnnamed,
            "waitall" => Action::WaitAll(self.slots(&mut words)?),
            "waitany" => Action::WaitAny(self.slots(&mut words)?),
            "waitsome" => Action::WaitSome(self.slots(&mut words)?),
            "phase" => return self.phase(line),
            "record" => self.record(&mut words)?,
            "await" => self.await_event(&mut words)?,
            "split" | "create" | "free" => self.communicator_call(&mut words, first)?,
            name => {
                let has_name = |operation: &Operation| [operation.name(), operation.nonblocking_name()].contains(&name);
                match Operation::ALL.into_iter().find(has_name) {
                    Some(operation) => self.collective(&mut words, operation, name)?,
                    None => return self.unknown(line, name),
                }
            }
        };
        words.end()?;
        Ok(action)
    }

    fn unknown(&self, line: &Line, name: &str) -> Result<Action, Mistake> {
        let column = line.indent + 1;
        let operations = Operation::ALL.iter().flat_map(|operation| [operation.name(), operation.nonblocking_name()]);
        let reason = match name {
            "" => "expected a call, `repeat` or `if`".into(),
            "else" => "`else` without an `if` before it with the same indentation".into(),
            "role" => "a role inside a program; roles are not indented, and each rank has one".into(),
            name if HEADERS.contains(&name) => format!("`{name}` must be at the top, before all roles and calls"),
            name => format!("unknown call '{name}'{}", hint(name, HEADERS.into_iter().chain(CALLS).chain(operations))),
        };
        Err(Mistake::new(line.number, column, reason))
    }

    fn message(&self, words: &mut TokenCursor<'_>, call: &str) -> Result<Action, Mistake> {
        let sends = call.ends_with("send");
        let peer = match !sends && words.takes("any") {
            true => None,
            false => Some(words.amount(&self.scope, Dimension::Number)?),
        };
        let bytes = words.amount(&self.scope, Dimension::Data)?;
        let mut tag = Some(Expression::Value(0));
        if words.takes("tag") {
            tag = match !sends && words.takes("any") {
                true => None,
                false => Some(words.amount(&self.scope, Dimension::Number)?),
            };
        }
        let communicator = self.on(words)?;
        let waiting = self.waiting(words, call, !call.starts_with('i'))?;
        Ok(Action::Message(Message { sends, peer, bytes, tag, communicator, waiting }))
    }

    /// `as NAME[INDEX]` of a call that does not block.
    fn waiting(&self, words: &mut TokenCursor<'_>, call: &str, blocks: bool) -> Result<CompletionMode, Mistake> {
        Ok(match (blocks, words.takes("as")) {
            (false, true) => CompletionMode::Named(self.slot(words)?),
            (false, false) => CompletionMode::Unnamed,
            (true, false) => CompletionMode::Blocking,
            (true, true) => return words.mistake(format!("`{call}` has no request; use `i{call}`")),
        })
    }

    fn slots(&self, words: &mut TokenCursor<'_>) -> Result<Slots, Mistake> {
        let at = words.clone();
        let name = words.name("the name of requests")?;
        match self.slots.iter().find(|(known, _)| known == name) {
            Some((_, slots)) => Ok(*slots),
            None => {
                let hint = hint(name, self.slots.iter().map(|(name, _)| name.as_str()));
                at.mistake(format!("unknown requests '{name}'{hint}; `requests {name}` at the top declares them"))
            }
        }
    }

    fn slot(&self, words: &mut TokenCursor<'_>) -> Result<Slot, Mistake> {
        let slots = self.slots(words)?;
        let mut index = Expression::Value(0);
        if words.takes("[") {
            index = words.amount(&self.scope, Dimension::Number)?;
            words.needs("]")?;
        }
        Ok(Slot { slots, index })
    }

    fn phase(&mut self, line: &Line) -> Result<Action, Mistake> {
        if line.rest.is_empty() {
            return Err(Mistake::new(line.number, line.end, "expected the name of a phase".into()));
        }
        let known = self.phases.iter().position(|name| *name == line.rest);
        let number = known.unwrap_or_else(|| {
            self.phases.push(line.rest.clone());
            self.phases.len() - 1
        });
        Ok(Action::Mark(number as u32))
    }
}
