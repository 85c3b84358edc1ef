//! Rules against numbers by hand. Packets of 1,000 B take 100 ns, and a round trip 1 us.

use super::*;
use crate::control::settings::ControlName;
use odonata_units::{Bytes, Time};

const US: u64 = 1_000_000;
const LIMITS: PairLimits = PairLimits { window_max: 20_000, round_trip: US, packet_time: US / 10 };

fn settings(rule: ControlRule) -> ControlSettings {
    let name = if rule == ControlRule::Merlin { ControlName::Pair } else { ControlName::Window };
    ControlSettings { name, rule: Some(rule), min_window: Bytes(10), ..ControlSettings::default() }
}

fn notice(at: u64, kind: NoticeKind, bytes: u32, delay_ps: u64) -> Notice {
    Notice { at, destination: 0, class: 0, kind, bytes, delay_ps }
}

/// Sends and acknowledges packets one after the other, with ten in flight; `marked` of them with a mark, first.
fn exchange(rules: &Rules, pair: &mut Pair, packets: u32, marked: u32) {
    for k in 0..packets {
        pair.in_flight = 10_000;
        let kind = if k < marked { NoticeKind::MarkedAck } else { NoticeKind::Ack };
        rules.apply(pair, &notice(0, kind, 1_000, 0));
    }
}

/// 10 packets, 5 with marks: F = 1/2, alpha = (1 - 1/2) 1 + 1/2 1/2 = 3/4, and 10,000 (1 - 3/8) = 6,250. Then 7 packets
/// without marks: one packet more, 7,250, and alpha = 3/8. Then 8 packets with marks: alpha = 11/16, 7,250 (1 - 11/32)
/// = 4,757.
#[test]
fn dctcp_windows() {
    let control =
        ControlSettings { gain: Some(0.5), first_window: Some(Bytes(10_000)), ..settings(ControlRule::Dctcp) };
    let rules = Rules::new(&control, 1_000);
    let mut pair = rules.pair(LIMITS, 0);
    let mut windows = Vec::new();
    for (packets, marked) in [(10, 5), (7, 0), (8, 8)] {
        exchange(&rules, &mut pair, packets, marked);
        windows.push(pair.window);
    }
    assert_eq!(windows, [6_250, 7_250, 4_757]);
}

/// A window of a quarter of a packet: one packet in four round trips, though nothing is in flight. Without a mark it
/// grows by an eighth of a packet.
#[test]
fn windows_below_a_packet_spread_packets() {
    let rules = Rules::new(&settings(ControlRule::Dctcp), 1_000);
    let mut pair = rules.pair(LIMITS, 0);
    exchange(&rules, &mut pair, 5, 1);
    pair.window = 250;
    (pair.in_flight, pair.earliest) = (0, 0);
    rules.depart(&mut pair, 1_000, 7 * US);
    assert!(!pair.may_send(1_000, 7 * US));
    rules.apply(&mut pair, &notice(8 * US, NoticeKind::Ack, 1_000, 0));
    assert_eq!(pair.next_departure(1_000), Some(11 * US));
    assert_eq!(pair.window, 375);
}

/// 100 Gb/s (81.92 ps per byte) and a target of 12 us are the reference: a = b = 1. Packets of 4,096 B.
///
/// - An unmarked acknowledgement after a round trip with half the target as delay: `4 x 4,096 / 12 us x 4,096 x 6 us` =
///   33,554,432, over a window of 100,000: 335 B. And `0.15 x 4,096` = 614 B, since a target delay has passed.
/// - Unmarked with the target as delay: `5 x 4,096 x 4,096` = 83,886,080, over 100,949: 830 B.
/// - 100 us later, a delay of 60 us and less than an eighth of the maximum acknowledged: quick adaptation to these bytes.
#[test]
fn nscc_windows() {
    let control = ControlSettings {
        target_delay: Time::from_us(12),
        first_window: Some(Bytes(100_000)),
        ..settings(ControlRule::Nscc)
    };
    let limits = PairLimits { window_max: 200_000, round_trip: 10 * US, packet_time: 327_680 };
    let rules = Rules::new(&control, 4_096);
    let mut pair = rules.pair(limits, 0);
    let acknowledge = |pair: &mut Pair, at: u64, delay: u64, in_flight: u64| {
        pair.in_flight = in_flight + 4_096;
        rules.apply(pair, &notice(at, NoticeKind::Ack, 4_096, delay));
        pair.window
    };
    assert_eq!(acknowledge(&mut pair, 13 * US, 6 * US, 90_000), 100_000 + 335 + 614);
    assert_eq!(acknowledge(&mut pair, 24 * US, 12 * US, 90_000), 100_949 + 830);
    assert_eq!(acknowledge(&mut pair, 100 * US, 60 * US, 4_096), 4_096);
}

/// Mean delay m after k marks with delay 48 us: `48 (1 - 0.9875^k)`. The 23rd is the first above the target of 12 us:
/// 12.05 us, so the window shrinks by `0.8 x 0.05 / 12.05` = 0.35 %.
#[test]
fn nscc_shrinks_by_the_excess_of_the_mean_delay() {
    let control = ControlSettings { target_delay: Time::from_us(12), ..settings(ControlRule::Nscc) };
    let limits = PairLimits { window_max: 200_000, round_trip: 10 * US, packet_time: 327_680 };
    let rules = Rules::new(&control, 4_096);
    let mut pair = rules.pair(limits, 0);
    let mut windows = Vec::new();
    // All at one time: no growth, and one decrease per round trip.
    for _ in 0..25 {
        pair.in_flight = 150_000;
        rules.apply(&mut pair, &notice(11 * US, NoticeKind::MarkedAck, 4_096, 48 * US));
        windows.push(pair.window);
    }
    let mean = 48.0 * (1.0 - 0.9875f64.powi(23));
    assert!(mean > 12.0 && 48.0 * (1.0 - 0.9875f64.powi(22)) < 12.0);
    let shrunk = (200_000.0 * (1.0 - 0.8 * (mean - 12.0) / mean)) as u64;
    assert_eq!(windows[21], 200_000);
    assert!(windows[22].abs_diff(shrunk) <= 1, "{} B, expected {shrunk}", windows[22]);
    assert_eq!(windows[24], windows[22]);
}

/// A mark at 0: rate 1 - 1/2 = 1/2, target 1. Each of five timer expiries halves the distance: 1 - 1/4, ..., 1 - 1/64.
/// A second mark, when alpha has decayed twice to (255/256)^2: half of that off.
#[test]
fn dcqcn_rates() {
    let rules = Rules::new(&settings(ControlRule::Dcqcn), 1_000);
    let mut pair = rules.pair(LIMITS, 0);
    let gap_at = |pair: &mut Pair, at: u64| {
        pair.in_flight = 1_000;
        rules.depart(pair, 1_000, at);
        pair.earliest - at
    };
    let mark = |pair: &mut Pair, at: u64| {
        pair.in_flight = 1_000;
        rules.apply(pair, &notice(at, NoticeKind::MarkedAck, 1_000, 0));
    };
    let gap = |rate: f64| (1e5 / rate).round() as u64;
    assert_eq!(gap_at(&mut pair, 0), 100_000);
    mark(&mut pair, 0);
    assert_eq!(gap_at(&mut pair, 0), 200_000);
    // Within the interval of notices.
    mark(&mut pair, 40 * US);
    assert_eq!(gap_at(&mut pair, 40 * US), 200_000);
    assert_eq!(gap_at(&mut pair, 56 * US), gap(0.75));
    assert_eq!(gap_at(&mut pair, 111 * US), gap(0.875));
    let mut other = pair.clone();
    assert_eq!(gap_at(&mut other, 276 * US), gap(1.0 - 1.0 / 64.0));
    mark(&mut pair, 112 * US);
    let alpha = (255.0f64 / 256.0).powi(2);
    assert_eq!(gap_at(&mut pair, 112 * US), gap(0.875 * (1.0 - alpha / 2.0)));
}

/// Three marks: a packet takes 1 + 3 packet times. The timer expires at 150 and 300 us: 1 + 1.
#[test]
fn cct_gaps() {
    let rules = Rules::new(&settings(ControlRule::Cct), 1_000);
    let mut pair = rules.pair(LIMITS, 0);
    for at in [10 * US, 11 * US, 12 * US] {
        pair.in_flight = 1_000;
        rules.apply(&mut pair, &notice(at, NoticeKind::MarkedAck, 1_000, 0));
    }
    rules.depart(&mut pair, 1_000, 20 * US);
    assert_eq!(pair.earliest, 20 * US + 400_000);
    rules.depart(&mut pair, 1_000, 301 * US);
    assert_eq!(pair.earliest, 301 * US + 200_000);
}

/// Seven sources: a pause, then 2 + 7 packet times from one packet to the next. Freed, it sends at once.
#[test]
fn merlin_gaps() {
    let rules = Rules::new(&settings(ControlRule::Merlin), 1_000);
    let mut pair = rules.pair(LIMITS, 0);
    rules.apply(&mut pair, &notice(5 * US, NoticeKind::Backoff, 7, 3 * US));
    assert_eq!(pair.next_departure(1_000), Some(8 * US));
    rules.depart(&mut pair, 1_000, 8 * US);
    assert_eq!(pair.next_departure(1_000), Some(8 * US + 900_000));
    rules.apply(&mut pair, &notice(8 * US + 100, NoticeKind::Backoff, 1, 0));
    assert_eq!(pair.next_departure(1_000), Some(8 * US + 100));
}
