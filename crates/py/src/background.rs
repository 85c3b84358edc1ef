//! Long work on a thread of its own, so that the calling thread can report progress, store rows and handle signals.

use crate::columns::columns_dict;
use crate::errors;
use crate::partners::Partners;
use odonata_experiment::Frame;
use odonata_experiment::{Processes, Watcher};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum time until Ctrl-C is handled. A larger value delays it, a smaller one wakes the thread more often.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// How long work that is to stop may go on before it asks whether it shall. Work that has asked may take the time that it needs
/// to keep what it has, until a second interrupt; any other is left behind, where it ends when it asks, or with the process.
const GRACE: Duration = Duration::from_millis(800);

/// Memory for the stack of the working thread: as much as a main thread has.
const STACK_BYTES: usize = 8 << 20;

/// What the worker says.
enum WorkerMessage {
    /// The phase and its share that is done.
    Progress(String, f64),
    /// Simulated time in ps and events so far.
    Pace(u64, u64),
    /// Where is the next checkpoint to be written, of which there were so many before? The worker waits for the answer.
    CheckpointFile(u32, mpsc::SyncSender<Option<PathBuf>>),
    /// A checkpoint is there, of so many bytes, or why it is not. The worker waits until its file is in its place.
    CheckpointTaken(Result<u64, String>, mpsc::SyncSender<()>),
    /// Rows of a table. The worker waits for the answer, so that no more than these are ever held.
    Rows(&'static str, Frame, mpsc::SyncSender<()>),
}

/// Functions of the caller.
#[derive(Clone, Default)]
pub(crate) struct Listeners<'a> {
    /// Called with the phase and its share that is done.
    pub(crate) progress: Option<&'a Py<PyAny>>,
    /// Called with the simulated time in ps and the events so far.
    pub(crate) pace: Option<&'a Py<PyAny>>,
    /// Called with the name of a table and columns of further rows.
    pub(crate) rows: Option<&'a Py<PyAny>>,
    /// The processes that make the run together, if there are several.
    pub(crate) processes: Option<Arc<Partners>>,
    /// Requests checkpoints and receives them.
    pub(crate) checkpoints: Option<&'a Checkpoints>,
}

/// How a run is asked for checkpoints, and who puts them in their place.
#[pyclass(frozen, module = "odonata._core")]
#[derive(Debug)]
pub(crate) struct Checkpoints {
    file: Py<PyAny>,
    taken: Py<PyAny>,
    at_ps: Vec<u64>,
    asked: Arc<AtomicBool>,
}

#[pymethods]
impl Checkpoints {
    #[new]
    fn new(file: Py<PyAny>, taken: Py<PyAny>, mut at_ps: Vec<u64>) -> Self {
        at_ps.sort_unstable();
        Self { file, taken, at_ps, asked: Arc::default() }
    }

    /// Asks for one as soon as can be.
    fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }
}

impl Checkpoints {
    fn due(&self) -> CheckpointSchedule {
        CheckpointSchedule {
            asked: Arc::clone(&self.asked),
            at_ps: self.at_ps.iter().copied().collect(),
            since: CheckpointSchedule::now(),
        }
    }
}

/// What became of the work.
pub(crate) struct WorkResult<T> {
    pub(crate) result: T,
    /// The interrupt that stopped it, or arrived at its normal end: `KeyboardInterrupt`, or `SystemExit` from the
    /// handler of a signal.
    pub(crate) interrupt: Option<PyErr>,
}

/// What caller and worker share.
#[derive(Debug, Default)]
struct Stop {
    /// The worker is to stop.
    asked: AtomicBool,
    /// It knows.
    received: AtomicBool,
}

/// When checkpoints are due.
#[derive(Debug)]
struct CheckpointSchedule {
    asked: Arc<AtomicBool>,
    /// Simulated times in ps, ascending, that have not come.
    at_ps: VecDeque<u64>,
    /// When the last one was taken, or the work began.
    since: Instant,
}

impl CheckpointSchedule {
    #[allow(clippy::disallowed_methods, reason = "the clock says when a checkpoint is due; no result depends on one")]
    fn now() -> Instant {
        Instant::now()
    }

    fn is_now(&mut self, now_ps: u64, every: Option<Duration>) -> bool {
        let at = self.at_ps.front().is_some_and(|at| *at <= now_ps);
        while self.at_ps.front().is_some_and(|at| *at <= now_ps) {
            self.at_ps.pop_front();
        }
        let late = every.is_some_and(|every| self.since.elapsed() >= every);
        self.asked.swap(false, Ordering::Relaxed) || at || late
    }
}

/// The watcher on the working thread.
struct Worker {
    due: Option<CheckpointSchedule>,
    sender: mpsc::Sender<WorkerMessage>,
    stop: Arc<Stop>,
    stores_rows: bool,
    processes: Option<Arc<Partners>>,
}

impl Watcher for Worker {
    fn progress(&mut self, phase: &str, share: f64) -> bool {
        // Nobody listens any more: then it is to stop.
        let _ = self.sender.send(WorkerMessage::Progress(phase.to_owned(), share));
        let stops = self.stop.asked.load(Ordering::Relaxed);
        if stops {
            self.stop.received.store(true, Ordering::Relaxed);
        }
        !stops
    }

    fn pace(&mut self, now_ps: u64, events: u64) {
        let _ = self.sender.send(WorkerMessage::Pace(now_ps, events));
    }

    fn rows(&mut self, table: &'static str, rows: Frame) -> Option<Frame> {
        if !self.stores_rows {
            return Some(rows);
        }
        let (done, wait) = mpsc::sync_channel(1);
        let _ = self.sender.send(WorkerMessage::Rows(table, rows, done));
        let _ = wait.recv();
        None
    }

    fn takes_rows(&self) -> bool {
        self.stores_rows
    }

    fn processes(&self) -> usize {
        self.processes.as_ref().map_or(1, |processes| processes.count())
    }

    fn join(&mut self) -> Option<Arc<dyn Processes>> {
        let processes = self.processes.as_ref().filter(|processes| processes.are_ready())?;
        Some(Arc::clone(processes) as Arc<dyn Processes>)
    }

    fn wants_checkpoint(&mut self, now_ps: u64, every: Option<Duration>) -> bool {
        self.due.as_mut().is_some_and(|due| due.is_now(now_ps, every))
    }

    fn checkpoint_file(&mut self, before: u32) -> Option<PathBuf> {
        let (answer, wait) = mpsc::sync_channel(1);
        let _ = self.sender.send(WorkerMessage::CheckpointFile(before, answer));
        wait.recv().ok().flatten()
    }

    fn checkpoint_taken(&mut self, written: Result<u64, String>) {
        let (done, wait) = mpsc::sync_channel(1);
        let _ = self.sender.send(WorkerMessage::CheckpointTaken(written, done));
        let _ = wait.recv();
        if let Some(due) = &mut self.due {
            due.since = CheckpointSchedule::now();
        }
    }
}

/// Runs `work` without the interpreter's lock. Its watcher stops the work after a signal whose handler raised an exception,
/// or when a function of the caller raised one. An interrupt comes with the result, since the work may have partial
/// results. Any other exception is returned as the error. An interrupt of work that does not stop is an error, too.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    listeners: Listeners<'_>,
    work: impl FnOnce(&mut dyn Watcher) -> T + Send + 'static,
) -> PyResult<WorkResult<T>> {
    let (finished, raised) = py.detach(|| {
        let (sender, receiver) = mpsc::channel::<WorkerMessage>();
        let stop = Arc::new(Stop::default());
        let mut worker = Worker {
            due: listeners.checkpoints.map(Checkpoints::due),
            sender,
            stop: stop.clone(),
            stores_rows: listeners.rows.is_some(),
            processes: listeners.processes.clone(),
        };
        let body = move || errors::caught(|| work(&mut worker));
        let thread = std::thread::Builder::new().name("odonata".into()).stack_size(STACK_BYTES);
        let thread = thread.spawn(body).expect("the system can start a thread");
        let (raised, ended) = listen(&receiver, &listeners, &stop);
        (ended.then(|| thread.join().expect("panics were caught")), raised)
    });
    match (finished, raised) {
        (_, Some(error)) if !is_interrupt(py, &error) => Err(error),
        (None, raised) => Err(raised.expect("only stopped work is left behind")),
        (Some(finished), interrupt) => {
            let result = finished.map_err(|cause| errors::internal_error(py, &cause))?;
            Ok(WorkResult { result, interrupt })
        }
    }
}

/// Runs `work` that reports nothing, and handles signals meanwhile.
pub(crate) fn awaited<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let WorkResult { result, interrupt } = run(py, Listeners::default(), |_| work())?;
    interrupt.map_or(Ok(result), Err)
}

/// Whether an exception asks the program to end, as opposed to saying what went wrong.
fn is_interrupt(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyKeyboardInterrupt>(py) || !error.is_instance_of::<PyException>(py)
}

/// Passes on what the worker says until the work is done, or does not end; the exception that ended it, if one did, and
/// whether it is done.
#[allow(clippy::disallowed_methods, reason = "the clock says when to stop waiting; what is left behind has no result")]
fn listen(receiver: &mpsc::Receiver<WorkerMessage>, listeners: &Listeners<'_>, stop: &Stop) -> (Option<PyErr>, bool) {
    let mut raised: Option<PyErr> = None;
    let mut since = None;
    loop {
        let received = match receiver.recv_timeout(SIGNAL_INTERVAL) {
            Ok(first) => latest(first, receiver),
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            Err(RecvTimeoutError::Disconnected) => return (raised, true),
        };
        let notified = Python::attach(|py| notify(py, listeners, received, &raised, stop));
        if let Err(error) = notified {
            // `timeout` and schedulers send a signal twice at once: only a later one is a second wish.
            let is_late = since.is_some_and(|since: Instant| since.elapsed() > GRACE);
            let is_second = is_late && Python::attach(|py| is_interrupt(py, &error));
            // What went wrong counts more than an interrupt before it.
            let worse = raised.as_ref().is_none_or(|before| Python::attach(|py| is_interrupt(py, before)));
            if worse {
                raised = Some(error);
            }
            stop.asked.store(true, Ordering::Relaxed);
            since.get_or_insert_with(Instant::now);
            if is_second {
                return (raised, false);
            }
        }
        let late = since.is_some_and(|since: Instant| since.elapsed() > GRACE);
        if late && !stop.received.load(Ordering::Relaxed) {
            return (raised, false);
        }
    }
}

/// All that waits, but only the last of several in a row of one phase: a slow listener must not fall behind.
fn latest(first: WorkerMessage, receiver: &mpsc::Receiver<WorkerMessage>) -> Vec<WorkerMessage> {
    let mut received: Vec<WorkerMessage> = vec![first];
    let mut pace = None;
    for said in receiver.try_iter() {
        match (&said, received.last_mut()) {
            (WorkerMessage::Pace(now, events), _) => pace = Some((*now, *events)),
            (WorkerMessage::Progress(phase, _), Some(last)) if matches!(&*last, WorkerMessage::Progress(before, _) if before == phase) =>
            {
                *last = said;
            }
            _ => received.push(said),
        }
    }
    received.extend(pace.map(|(now, events)| WorkerMessage::Pace(now, events)));
    received
}

/// Calls the caller's functions. After an exception, only rows from before it are passed on.
fn notify(
    py: Python<'_>,
    listeners: &Listeners<'_>,
    received: Vec<WorkerMessage>,
    raised: &Option<PyErr>,
    stop: &Stop,
) -> PyResult<()> {
    let quiet = raised.is_some();
    let mut result = py.check_signals();
    for said in received {
        let notified = match said {
            WorkerMessage::Rows(table, rows, done) => {
                let stored = columns_dict(py, rows).and_then(|columns| {
                    listeners.rows.expect("rows are sent to who asked").call1(py, (table, columns))
                });
                // Dropping the sender would do as well: the worker only waits.
                let _ = done.send(());
                stored.map(drop)
            }
            _ if quiet || result.is_err() => Ok(()),
            WorkerMessage::CheckpointFile(before, answer) => {
                let found = listeners.checkpoints.map(|checkpoints| checkpoints.file.call1(py, (before,)));
                let path = found.transpose().and_then(|found| found.map_or(Ok(None), |path| path.extract(py)));
                path.map(|path| drop(answer.send(path)))
            }
            WorkerMessage::CheckpointTaken(written, done) => {
                let notified = listeners.checkpoints.map(|checkpoints| checkpoints.taken.call1(py, (written.err(),)));
                let stops =
                    notified.transpose().and_then(|notified| notified.map_or(Ok(false), |stops| stops.extract(py)));
                stops.map(|stops: bool| {
                    stop.asked.fetch_or(stops, Ordering::Relaxed);
                    let _ = done.send(());
                })
            }
            WorkerMessage::Progress(phase, share) => call(py, listeners.progress, (phase, share)),
            WorkerMessage::Pace(now_ps, events) => call(py, listeners.pace, (now_ps, events)),
        };
        result = result.and(notified);
    }
    result
}

fn call<'py>(
    py: Python<'py>,
    function: Option<&Py<PyAny>>,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<()> {
    function.map_or(Ok(()), |function| function.call1(py, arguments).map(drop))
}
