//! Parses streams and events.

use super::Parser;
use crate::text::lines::Line;
use crate::text::statement::Action;
use crate::text::streams::MAX_STREAMS;
use odonata_expression::{Mistake, TokenCursor};

impl<'a> Parser<'a> {
    /// `on stream NAME:` and its lines.
    pub(super) fn on_stream(&mut self, line: &'a Line, depth: usize) -> Result<Action, Mistake> {
        let mut words = line.words();
        words.needs("stream")?;
        let at = words.clone();
        let name = words.name("the name of a stream")?;
        if self.streams.is_inside {
            return at.mistake("a stream inside the block of a stream; expected calls".into());
        }
        let Some(stream) = self.streams.stream(name) else {
            return at.mistake(format!("more than {MAX_STREAMS} streams"));
        };
        self.streams.is_inside = true;
        let body = self.nested(line, &mut words, depth)?;
        self.streams.is_inside = false;
        Ok(Action::OnStream { stream, body })
    }

    pub(super) fn record(&mut self, words: &mut TokenCursor<'_>) -> Result<Action, Mistake> {
        Ok(Action::Record(self.streams.record(words.name("the name of an event")?)))
    }

    pub(super) fn await_event(&mut self, words: &mut TokenCursor<'_>) -> Result<Action, Mistake> {
        let (line, column) = (words.line_number(), words.column());
        Ok(Action::Await(self.streams.await_event(words.name("the name of an event")?, line, column)))
    }
}
