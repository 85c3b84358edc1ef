//! `fast_forward`: when it is refused, and what a run says about it.

use super::settings::Packet;
use super::skip_rule::{ERROR, EXACT, KEY};
use crate::engine::EngineError;
use crate::scenario::Scenario;
use odonata_packet::{FastForward, FastForwardReport};
use odonata_units::Time;
use odonata_workload::TrafficKind;
use serde_json::json;

/// Refuses what a run with skipped iterations cannot have.
pub(super) fn check(packet: &Packet, scenario: &Scenario) -> Result<(), EngineError> {
    if packet.times.fast_forward.is_none() {
        return Ok(());
    }
    let (records, needs, jobs) = (&packet.records, packet.choice().algorithm.needs, &scenario.workload.jobs);
    let recorded = [
        ("record_channels", records.channels),
        ("record_crossbar", records.crossbar),
        ("record_counted_stall", records.counted_stall),
        ("record_job_waits", records.job_waits),
        ("record_messages", records.messages),
        ("record_calls", records.calls),
        ("record_packets", records.packets),
        ("interval", records.interval.is_some()),
        ("checkpoint", packet.times.checkpoint.is_some()),
    ];
    let open = jobs.iter().find(|job| !matches!(job.traffic, TrafficKind::Program(_)));
    let name = packet.choice().algorithm.name;
    let reason = if let Some((key, _)) = recorded.iter().find(|(_, is_on)| *is_on) {
        format!("skipped iterations have no rows, so '{key}' is impossible; remove one of the two")
    } else if needs.estimates || needs.reports {
        format!("routing '{name}' learns, so no iteration is like the one before; use 'par' or 'min'")
    } else if let Some(job) = open {
        format!("job '{}' runs no program, so it has no iterations to skip; remove the key", job.name)
    } else if packet.settings.control.is_on() {
        "a congestion control remembers earlier iterations; remove 'control'".into()
    } else if scenario.classes.count() > 1 {
        "the shares of traffic classes remember earlier iterations; use one class".into()
    } else if packet.settings.injection.is_some() {
        "injection FIFOs count messages; remove 'injection'".into()
    } else {
        return Ok(());
    };
    Err(refused(reason))
}

pub(super) fn refused(reason: String) -> EngineError {
    EngineError::Refused { key: Some(KEY), reason }
}

/// What `check` says before the run.
pub(super) fn announced(packet: &Packet) -> Option<(&'static str, serde_json::Value)> {
    packet.times.fast_forward.map(|rule| (KEY, json!({ "rule": rule.text() })))
}

/// The certificate of a run: what it skipped, and why it may.
pub(super) fn certificate(report: &FastForwardReport) -> serde_json::Value {
    let FastForwardReport {
        form,
        iterations,
        skipped,
        repeated,
        period,
        skipped_time,
        digest,
        interval,
        latency_half_width,
        reason,
    } = report;
    json!({
        "form": match form {
            FastForward::Exact => EXACT,
            FastForward::Mean { .. } => ERROR,
        },
        "error": match form {
            FastForward::Exact => None,
            FastForward::Mean { error_ppm } => Some(f64::from(*error_ppm) / 1e6),
        },
        "iterations": iterations,
        "iterations_run": iterations - skipped,
        "iterations_skipped": skipped,
        "iterations_repeated": repeated,
        "period_ps": period.ps(),
        "skipped_ps": skipped_time.ps(),
        "digest": digest,
        "iteration_mean_ps": interval.map(|(mean, _)| mean.ps()),
        "end_half_width_ps": interval.map(|(_, half_width)| half_width.ps()),
        "latency_half_width_ps": latency_half_width.map(Time::ps),
        "reason": reason,
    })
}

/// Warnings of a run that ends at `end`.
pub(super) fn warnings(report: Option<&FastForwardReport>, end: Time) -> Vec<String> {
    report.into_iter().flat_map(|report| [warning(report), interval_note(report, end)]).flatten().collect()
}

/// Why a run skipped nothing.
fn warning(report: &FastForwardReport) -> Option<String> {
    let reason = report.reason.as_ref()?;
    Some(format!("fast_forward skipped nothing, so this is the full run: {reason}"))
}

/// The end of a run with its 95 % interval.
fn interval_note(report: &FastForwardReport, end: Time) -> Option<String> {
    let (_, half_width) = report.interval?;
    Some(format!(
        "{} of {} iterations were not run: the run ends at {end} +- {half_width} (95 % interval); maxima are from the \
         iterations that were run",
        report.skipped, report.iterations
    ))
}
