//! Shared parts of the readers of parameter files: named entries, numbers with their errors, figures of classes.

use super::line;
use crate::topology::LinkFigures;
use crate::{MachineBuilder, MachineError};
use odonata_units::{Rate, Time};
use std::borrow::Cow;

/// A name with its value and line.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) line: usize,
    pub(super) name: Cow<'a, str>,
    pub(super) value: String,
}

/// The entries of a section, with the name of the file for errors.
pub(super) struct Entries<'a> {
    pub(super) label: &'a str,
    /// Line of the section, for errors about missing entries.
    pub(super) line: usize,
    pub(super) entries: Vec<Entry<'a>>,
}

impl<'a> Entries<'a> {
    /// The last entry with this name; the case of letters does not matter.
    pub(super) fn get(&self, name: &str) -> Option<&Entry<'a>> {
        self.entries.iter().rev().find(|entry| entry.name.eq_ignore_ascii_case(name))
    }

    pub(super) fn required(&self, name: &str) -> Result<&Entry<'a>, MachineError> {
        self.get(name).map_or_else(|| line(self.label, self.line, format!("'{name}' is missing")), Ok)
    }

    /// A whole number from `least`.
    pub(super) fn count(&self, name: &str, least: u32) -> Result<u32, MachineError> {
        let entry = self.required(name)?;
        match entry.value.parse() {
            Ok(count) if count >= least => Ok(count),
            _ => {
                let reason = format!("'{name}' is '{}'; expected a whole number from {least}", entry.value);
                line(self.label, entry.line, reason)
            }
        }
    }

    /// Like [`Entries::count`], or `absent` without an entry.
    pub(super) fn count_or(&self, name: &str, absent: u32) -> Result<u32, MachineError> {
        self.get(name).map_or(Ok(absent), |_| self.count(name, 0))
    }

    /// Whole numbers from 1, separated by commas.
    pub(super) fn counts(&self, name: &str) -> Result<Vec<u32>, MachineError> {
        let entry = self.required(name)?;
        counts(&entry.value).map_or_else(
            || {
                let reason =
                    format!("'{name}' is '{}'; expected whole numbers from 1, separated by commas", entry.value);
                line(self.label, entry.line, reason)
            },
            Ok,
        )
    }

    /// A number above zero in units of `unit` bytes per second; `None` without an entry.
    pub(super) fn rate(&self, name: &str, unit: f64) -> Result<Option<Rate>, MachineError> {
        let Some(entry) = self.get(name) else { return Ok(None) };
        match entry.value.parse::<f64>().ok().and_then(|number| rate(number * unit)) {
            Some(rate) => Ok(Some(rate)),
            None => {
                let reason = format!("'{name}' is '{}'; expected a number above 0", entry.value);
                line(self.label, entry.line, reason)
            }
        }
    }

    /// An error at the line of `name`.
    pub(super) fn refuse<T>(&self, name: &str, reason: impl Into<String>) -> Result<T, MachineError> {
        line(self.label, self.get(name).map_or(self.line, |entry| entry.line), reason)
    }
}

/// Whole numbers from 1, separated by commas.
pub(super) fn counts(text: &str) -> Option<Vec<u32>> {
    text.split(',').map(|part| part.trim().parse().ok().filter(|&count| count > 0)).collect()
}

/// A valid rate of a link.
pub(super) fn rate(bytes_per_s: f64) -> Option<Rate> {
    (1.0..=1e15).contains(&bytes_per_s).then(|| Rate::from_bytes_per_s(bytes_per_s.round() as u64))
}

/// A valid latency of a link.
pub(super) fn latency(seconds: f64) -> Option<Time> {
    (0.0..=1.0).contains(&seconds).then(|| Time((seconds * 1e12).round() as u64))
}

/// Replaces the figures of a class by the given ones.
pub(super) fn set(figures: &mut LinkFigures, bandwidth: Option<Rate>, latency: Option<Time>) {
    figures.bandwidth = bandwidth.unwrap_or(figures.bandwidth);
    figures.latency = latency.unwrap_or(figures.latency);
}

/// Sets the bandwidth of the class called `name`, or of the links of nodes, in a machine that is listed already.
pub(super) fn set_bandwidth(builder: &mut MachineBuilder, name: &str, bandwidth: Option<Rate>) {
    let Some(bandwidth) = bandwidth else { return };
    if name == "terminal" {
        builder.terminal.bandwidth = bandwidth;
    }
    for (number, class) in builder.classes.iter_mut().enumerate() {
        if class.name == name {
            class.bandwidth = bandwidth;
            for cable in builder.cables.iter_mut().filter(|cable| cable.class.index() == number) {
                cable.bandwidth = bandwidth;
            }
        }
    }
}
