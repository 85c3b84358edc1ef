//! How long ranks of a trace compute.

use odonata_trace::TaskGraph;
use odonata_units::Time;

/// How long a rank computes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComputeTimes {
    /// For traces with operations.
    pub(crate) ps_per_flop: f64,
    /// Factor of the times in the trace.
    pub(crate) factor: f64,
    /// A time that replaces each of them.
    pub(crate) each: Option<Time>,
}

impl ComputeTimes {
    /// Whether the times of the trace are unchanged.
    pub(crate) fn is_measured(&self) -> bool {
        self.factor == 1.0 && self.each.is_none()
    }

    /// The graph with these times instead of its own.
    pub(super) fn of_graph(&self, graph: TaskGraph) -> Result<TaskGraph, String> {
        if self.is_measured() {
            return Ok(graph);
        }
        graph.with_compute_times(|time| self.of_ps(time.0 as f64))
    }

    /// A time in the trace as a time of computation.
    pub(crate) fn of_ps(&self, ps: f64) -> Result<Time, String> {
        match self.each {
            Some(each) if ps > 0.0 => Ok(each),
            _ => checked_time(ps * self.factor),
        }
    }
}

/// A time in ps as in a trace.
pub(super) fn checked_time(ps: f64) -> Result<Time, String> {
    if ps > i64::MAX as f64 {
        return Err(format!("{} s in one action; expected less than 106 days", ps / 1e12));
    }
    Ok(Time(ps.round() as u64))
}
