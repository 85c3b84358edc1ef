//! Messages between processes, and what all or the first of them know after one.

use odonata_checkpoint::{DecodeError, Reader, Writer};
use serde::de::DeserializeOwned;
use serde::Serialize;

/// The processes of one run, each of which has the same machine, traffic and options.
pub trait Processes: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// Number of this one, from 0.
    fn number(&self) -> usize;

    /// Gives each process the message under its number, and returns what each gave to this one; that of a process to itself does not
    /// matter. All call it equally often, and it returns when all messages are there.
    fn exchange(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>>;
}

/// A process that makes its run alone.
#[derive(Clone, Copy, Debug)]
pub struct SingleProcess;

impl Processes for SingleProcess {
    fn count(&self) -> usize {
        1
    }

    fn number(&self) -> usize {
        0
    }

    fn exchange(&self, _: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        vec![Vec::new()]
    }
}

/// What another process of the run wrote.
///
/// # Panics
/// If it can't be read: then the other is not of this version, which was asked before the run.
pub fn decode_message<T>(read: Result<T, DecodeError>) -> T {
    read.unwrap_or_else(|error| panic!("another process sent what this one does not know: {error}"))
}

fn bytes_of<T: Serialize>(value: &T) -> Vec<u8> {
    let mut into = Writer::default();
    into.put(value);
    into.into_bytes()
}

/// Tells all what this process has; what each has, by number.
pub fn all_gather<T: Serialize + DeserializeOwned>(processes: &dyn Processes, own: &T) -> Vec<T> {
    let bytes = bytes_of(own);
    let mut messages = vec![bytes.clone(); processes.count()];
    messages[processes.number()].clear();
    let mut came = processes.exchange(messages);
    came[processes.number()] = bytes;
    came.iter().map(|bytes| decode_message(Reader::new(bytes).get())).collect()
}

/// Gives the first process what every other one has; it returns what it gets, in their order, and the others nothing.
pub fn gather<T: Serialize + DeserializeOwned>(processes: &dyn Processes, own: &T) -> Vec<T> {
    let first = processes.number() == 0;
    let mut messages = vec![Vec::new(); processes.count()];
    if !first {
        messages[0] = bytes_of(own);
    }
    let gathered = processes.exchange(messages);
    gathered.iter().skip(1).filter(|_| first).map(|bytes| decode_message(Reader::new(bytes).get())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_in_threads;

    #[test]
    fn all_gather_and_gather_return_the_values() {
        let gathered =
            run_in_threads(3, |process| (all_gather(process, &process.number()), gather(process, &process.number())));
        assert_eq!(gathered, [(vec![0, 1, 2], vec![1, 2]), (vec![0, 1, 2], vec![]), (vec![0, 1, 2], vec![])]);
    }
}
