//! Parses streams and events.

use super::Parser;
use crate::text::expression::TokenCursor;
use crate::text::lines::Line;
use crate::text::mistake::Mistake;
use crate::text::statement::Action;
use odonata_declare::hint;

/// Limit on streams. Nonblocking collectives need lanes, too.
const MAX_STREAMS: usize = 128;

/// An event: whether any line records it, and the first place that awaits it.
struct Event {
    name: String,
    is_recorded: bool,
    awaited: Option<(u32, u32)>,
}

/// The streams and events of a program.
#[derive(Default)]
pub(super) struct Streams {
    /// By name. The first has number 1.
    names: Vec<String>,
    events: Vec<Event>,
    /// Whether the lines are in the block of a stream.
    is_inside: bool,
}

impl Streams {
    fn event(&mut self, name: &str) -> usize {
        let known = self.events.iter().position(|event| event.name == name);
        known.unwrap_or_else(|| {
            self.events.push(Event { name: name.into(), is_recorded: false, awaited: None });
            self.events.len() - 1
        })
    }

    /// The number of streams. Any line of the program may record an event.
    pub(super) fn finish(&self) -> Result<u8, Mistake> {
        let missing = self.events.iter().find_map(|event| Some((event, event.awaited?)).filter(|_| !event.is_recorded));
        if let Some((Event { name, .. }, (line, column))) = missing {
            let recorded = self.events.iter().filter(|event| event.is_recorded).map(|event| event.name.as_str());
            let reason = format!("unknown event '{name}'{}; `record {name}` records it", hint(name, recorded));
            return Err(Mistake::new(line, column, reason));
        }
        Ok(self.names.len() as u8)
    }
}

impl<'a> Parser<'a> {
    /// `on stream NAME:` and its lines.
    pub(super) fn on_stream(&mut self, line: &'a Line, depth: usize) -> Result<Action, Mistake> {
        let mut words = TokenCursor::after_first(line);
        words.needs("stream")?;
        let at = words.clone();
        let name = words.name("the name of a stream")?;
        if self.streams.is_inside {
            return at.mistake("a stream inside the block of a stream; expected calls".into());
        }
        let known = self.streams.names.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.streams.names.push(name.into());
            self.streams.names.len() - 1
        });
        if place == MAX_STREAMS {
            return at.mistake(format!("more than {MAX_STREAMS} streams"));
        }
        self.streams.is_inside = true;
        let body = self.nested(line, &mut words, depth)?;
        self.streams.is_inside = false;
        Ok(Action::OnStream { stream: place as u8 + 1, body })
    }

    pub(super) fn record(&mut self, words: &mut TokenCursor<'_>) -> Result<Action, Mistake> {
        let event = self.streams.event(words.name("the name of an event")?);
        self.streams.events[event].is_recorded = true;
        Ok(Action::Record(event as u32))
    }

    pub(super) fn await_event(&mut self, words: &mut TokenCursor<'_>) -> Result<Action, Mistake> {
        let at = words.clone();
        let event = self.streams.event(words.name("the name of an event")?);
        // An empty reason: the place is all that is needed.
        let Err(Mistake { line, column, .. }) = at.mistake::<()>(String::new()) else { unreachable!("a mistake") };
        self.streams.events[event].awaited.get_or_insert((line, column));
        Ok(Action::Await(event as u32))
    }
}
