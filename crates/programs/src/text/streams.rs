//! The streams and events of a program, while it is read.

use odonata_declare::hint;
use odonata_expression::Mistake;

/// Limit on streams. Nonblocking collectives need lanes, too.
pub(super) const MAX_STREAMS: usize = 128;

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
    pub(super) is_inside: bool,
}

impl Streams {
    /// The number of the stream with a name. `None` beyond the limit.
    pub(super) fn stream(&mut self, name: &str) -> Option<u8> {
        let known = self.names.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        (place < MAX_STREAMS).then_some(place as u8 + 1)
    }

    /// The number of an event that a line records.
    pub(super) fn record(&mut self, name: &str) -> u32 {
        let event = self.event(name);
        self.events[event].is_recorded = true;
        event as u32
    }

    /// The number of an event that the line at this place awaits.
    pub(super) fn await_event(&mut self, name: &str, line: u32, column: u32) -> u32 {
        let event = self.event(name);
        self.events[event].awaited.get_or_insert((line, column));
        event as u32
    }

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
