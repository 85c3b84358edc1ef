//! Time and memory that a run takes.

use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeValLike;
use std::time::Instant;

/// The clocks at the start of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    start: Instant,
    cpu_s: f64,
}

impl Usage {
    #[allow(clippy::disallowed_methods)] // the time taken is what is reported
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), cpu_s: process_cpu_s() }
    }

    /// Seconds since the start.
    pub(crate) fn wall_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Seconds of processor time of all threads since the start.
    pub(crate) fn cpu_s(&self) -> f64 {
        process_cpu_s() - self.cpu_s
    }
}

/// Peak memory of this process so far, of whatever it did.
pub fn peak_rss_bytes() -> u64 {
    high_water_mark().unwrap_or_else(|| {
        // Linux counts in KiB, macOS in bytes.
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss().unsigned_abs() * unit)
    })
}

/// As Linux has it of the program that runs. What `getrusage` says goes back to whatever the process was before it became this
/// program, so a small run that a large one starts would have its size.
fn high_water_mark() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.split_whitespace().next()?.parse::<u64>().ok()?)
}

fn process_cpu_s() -> f64 {
    let seconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / 1e6;
    getrusage(UsageWho::RUSAGE_SELF).map_or(0.0, |usage| seconds(usage.user_time()) + seconds(usage.system_time()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_takes_its_seconds() {
        let usage = Usage::start();
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!((0.02..60.0).contains(&usage.wall_s()), "{} s", usage.wall_s());
    }
}
