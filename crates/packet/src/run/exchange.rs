//! Communication between workers.
//!
//! A worker advances some partitions of a run, and all workers go through the same windows. Only implementations of
//! [`Exchange`] know how many workers there are and where.

use super::rows::RowBuffer;
use super::tally::Tally;
use super::totals::Totals;
use crate::mail::Mail;
use std::sync::Mutex;

/// Connection of a worker to the other workers.
pub(crate) trait Exchange {
    /// Posts mail for partition `to`, for the worker that advances it in the next window. Leaves empty mail in its
    /// place.
    fn post(&mut self, to: usize, mail: &mut Mail);

    /// Passes the mail for partition `to` that was posted before the last synchronization to `read`. Mail from one
    /// partition arrives in the order in which it was sent.
    fn take(&mut self, to: usize, read: &mut dyn FnMut(&mut Mail));

    /// Waits for all workers and returns the sum of their tallies. `rows` holds the rows of this process; afterwards
    /// the first process has the rows of all.
    fn synchronize(&mut self, tally: &Tally, rows: &Mutex<RowBuffer>) -> Tally;

    /// Sums the totals at the end of the run, and gathers the last rows. The first worker of the first process gets
    /// the sum of all. The first worker of another process gets the sum of its process.
    fn sum(&mut self, totals: Totals, rows: &Mutex<RowBuffer>) -> Option<Totals>;
}
