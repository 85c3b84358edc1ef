//! Processes as threads of a test, which share only the bytes that they exchange.

use crate::exchange::Processes;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Mutex;

/// A process, with a channel to and from each other one.
struct Thread {
    number: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Mutex<Vec<Receiver<Vec<u8>>>>,
}

impl Processes for Thread {
    fn count(&self) -> usize {
        self.to.len()
    }

    fn number(&self) -> usize {
        self.number
    }

    fn exchange(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        assert_eq!(messages.len(), self.to.len());
        assert!(messages[self.number].is_empty(), "no process sends to itself");
        let here = "no other thread has panicked";
        self.to.iter().zip(messages).for_each(|(to, message)| to.send(message).expect(here));
        self.from.lock().expect(here).iter().map(|from| from.recv().expect(here)).collect()
    }
}

/// Runs `share` in `count` processes and returns their results by number.
///
/// # Panics
/// If one of them panics.
pub fn run_in_threads<T: Send>(count: usize, share: impl Fn(&dyn Processes) -> T + Sync) -> Vec<T> {
    let mut of: Vec<Thread> =
        (0..count).map(|number| Thread { number, to: Vec::new(), from: Mutex::default() }).collect();
    for from in 0..count {
        for to in 0..count {
            let (sender, receiver) = channel();
            of[from].to.push(sender);
            of[to].from.get_mut().expect("not shared yet").push(receiver);
        }
    }
    std::thread::scope(|scope| {
        let share = &share;
        let started: Vec<_> = of.into_iter().map(|thread| scope.spawn(move || share(&thread))).collect();
        started.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    })
}
