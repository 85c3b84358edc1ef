//! Parses collectives and calls about communicators.

use super::Parser;
use crate::call::{Operation, EQUAL, WORLD};
use crate::text::statement::Action;
use odonata_declare::hint;
use odonata_expression::{Dimension, Expression, Mistake, TokenCursor};

impl Parser<'_> {
    /// `on NAME`. The world communicator by default.
    pub(super) fn on(&self, words: &mut TokenCursor<'_>) -> Result<u16, Mistake> {
        if words.takes("on") {
            self.communicator(words)
        } else {
            Ok(WORLD)
        }
    }

    fn communicator(&self, words: &mut TokenCursor<'_>) -> Result<u16, Mistake> {
        let at = words.clone();
        let name = words.name("a communicator")?;
        if name == "world" {
            return Ok(WORLD);
        }
        match self.communicators.iter().position(|known| known == name) {
            Some(place) => Ok(place as u16 + 1),
            None => {
                let known = self.communicators.iter().map(String::as_str);
                at.mistake(format!("unknown communicator '{name}'{}", hint(name, known.chain(["world"]))))
            }
        }
    }

    pub(super) fn communicator_call(&mut self, words: &mut TokenCursor<'_>, call: &str) -> Result<Action, Mistake> {
        if call == "free" {
            return Ok(Action::Free(self.communicator(words)?));
        }
        let at = words.clone();
        let name = words.name("a name for the communicator")?;
        let known = self.communicators.iter().position(|known| known == name);
        // Other roles may create it as well, and it may be created again after it was freed.
        let place = match known {
            Some(place) => place,
            None if name == "world" => return at.mistake("'world' has all ranks and cannot be created".into()),
            None if self.communicators.len() == usize::from(u16::MAX) - 1 => {
                return at.mistake("too many communicators".into());
            }
            None => {
                self.communicators.push(name.into());
                self.communicators.len() - 1
            }
        };
        let new = place as u16 + 1;
        let scope = &self.scope;
        let number = |what: &str, usual: Option<i64>, words: &mut TokenCursor<'_>| match (words.takes(what), usual) {
            (false, Some(usual)) => Ok(Expression::Value(usual)),
            (false, None) => words.expected(&format!("'{what}'")),
            (true, _) => words.amount(scope, Dimension::Number),
        };
        if call == "split" {
            let (color, key) = (number("color", None, words)?, number("key", Some(0), words)?);
            return Ok(Action::Split { communicator: self.on(words)?, new, color, key });
        }
        let (first, count) = (number("first", None, words)?, number("count", None, words)?);
        let stride = number("stride", Some(1), words)?;
        Ok(Action::Create { communicator: self.on(words)?, new, first, count, stride })
    }

    pub(super) fn collective(
        &self,
        words: &mut TokenCursor<'_>,
        operation: Operation,
        call: &str,
    ) -> Result<Action, Mistake> {
        use Operation::{Allgather, Alltoall, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};
        let vector = matches!(operation, Gather | Scatter | Allgather | Alltoall | ReduceScatter);
        let (mut bytes, mut sizes) = (Expression::Value(0), EQUAL);
        if vector && words.takes("sizes") {
            let at = words.clone();
            let name = words.name("the name of sizes")?;
            let Some(place) = self.sizes.iter().position(|(known, _)| known == name) else {
                let hint = hint(name, self.sizes.iter().map(|(name, _)| name.as_str()));
                return at
                    .mistake(format!("unknown sizes '{name}'{hint}; `sizes {name} = ..` at the top declares them"));
            };
            sizes = place as u32;
        } else if operation != Barrier {
            bytes = words.amount(&self.scope, Dimension::Data)?;
        }
        let mut root = Expression::Value(0);
        if matches!(operation, Broadcast | Reduce | Gather | Scatter) && words.takes("root") {
            root = words.amount(&self.scope, Dimension::Number)?;
        }
        let communicator = self.on(words)?;
        let waiting = self.waiting(words, call, call == operation.name())?;
        Ok(Action::Collective { operation, root, bytes, sizes, communicator, waiting })
    }
}
