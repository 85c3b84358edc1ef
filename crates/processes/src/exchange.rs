//! Message exchange between processes, and gathers on top of it.

use odonata_checkpoint::{DecodeError, Reader, Writer};
use serde::de::DeserializeOwned;
use serde::Serialize;

/// Processes of one run. Each has the same machine, traffic and options.
pub trait Processes: Send + Sync {
    /// Number of processes.
    fn count(&self) -> usize;

    /// Number of this process, from 0.
    fn number(&self) -> usize;

    /// Sends each process the message at its number, and returns the messages for this process. The message to itself
    /// is ignored. All processes call it equally often. It returns when all messages have arrived.
    fn exchange(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>>;
}

/// The only process of a run.
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

/// Decodes a message from another process.
///
/// # Panics
/// If it cannot be decoded. The versions were compared before the run, so this is a defect.
pub fn decode_message<T>(read: Result<T, DecodeError>) -> T {
    read.unwrap_or_else(|error| panic!("invalid message from another process: {error}"))
}

fn bytes_of<T: Serialize>(value: &T) -> Vec<u8> {
    let mut into = Writer::default();
    into.put(value);
    into.into_bytes()
}

/// Sends a value to all processes and returns the values of all, by number.
pub fn all_gather<T: Serialize + DeserializeOwned>(processes: &dyn Processes, own: &T) -> Vec<T> {
    let bytes = bytes_of(own);
    let mut messages = vec![bytes.clone(); processes.count()];
    messages[processes.number()].clear();
    let mut came = processes.exchange(messages);
    came[processes.number()] = bytes;
    came.iter().map(|bytes| decode_message(Reader::new(bytes).get())).collect()
}

/// Sends a value to the first process. The first returns the values of the others, in order; the others return
/// nothing.
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

    #[test]
    fn a_single_process_is_number_0_and_gathers_its_own_value() {
        let single = SingleProcess;
        assert_eq!((single.count(), single.number()), (1, 0));
        assert_eq!((all_gather(&single, &5), gather(&single, &5)), (vec![5], vec![]));
    }
}
