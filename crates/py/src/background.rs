//! Long work on a thread of its own, so that the calling thread can report progress and hear Ctrl-C.

use crate::errors;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How long Ctrl-C waits at most to be heard.
const PATIENCE: Duration = Duration::from_millis(50);

/// Memory for the stack of the working thread: as much as a main thread has.
const STACK_BYTES: usize = 8 << 20;

/// How far the work is: the phase and its share that is done.
type Update = (String, f64);

/// Runs `work` without the interpreter's lock. `work` is given a function to call with its progress, which returns false
/// when the work must stop: after Ctrl-C, or when the Python function `progress` raised an exception, which is returned.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(&str, f64) -> bool) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let (finished, interrupted) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel::<Update>();
            let stop = &stop;
            let body = move || {
                errors::caught(|| {
                    work(&mut |phase, share| {
                        // Nobody listens any more: then `stop` is set.
                        let _ = sender.send((phase.to_owned(), share));
                        !stop.load(Ordering::Relaxed)
                    })
                })
            };
            let worker = std::thread::Builder::new().name("odonata".into()).stack_size(STACK_BYTES);
            let worker = worker.spawn_scoped(scope, body).expect("the system can start a thread");
            let interrupted = listen(&receiver, progress, stop);
            (worker.join().expect("panics were caught"), interrupted)
        })
    });
    match interrupted {
        Some(error) => Err(error),
        None => finished.map_err(|cause| errors::internal_error(py, &cause)),
    }
}

/// Passes progress on until the work is done; the exception that ended it, if one did.
fn listen(receiver: &mpsc::Receiver<Update>, progress: Option<&Py<PyAny>>, stop: &AtomicBool) -> Option<PyErr> {
    let mut interrupted = None;
    loop {
        let updates = match receiver.recv_timeout(PATIENCE) {
            Ok(first) => latest_by_phase(first, receiver),
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            Err(RecvTimeoutError::Disconnected) => return interrupted,
        };
        if interrupted.is_none() {
            interrupted = Python::attach(|py| tell(py, progress, updates)).err();
            stop.store(interrupted.is_some(), Ordering::Relaxed);
        }
    }
}

/// All updates that wait, but only the last of several in a row of one phase: a slow listener must not fall behind.
fn latest_by_phase(first: Update, receiver: &mpsc::Receiver<Update>) -> Vec<Update> {
    let mut updates = vec![first];
    for update in receiver.try_iter() {
        match updates.last_mut() {
            Some(last) if last.0 == update.0 => *last = update,
            _ => updates.push(update),
        }
    }
    updates
}

fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, updates: Vec<Update>) -> PyResult<()> {
    py.check_signals()?;
    for update in updates.into_iter().filter(|_| progress.is_some()) {
        progress.expect("the filter lets nothing pass without one").call1(py, update)?;
    }
    Ok(())
}
