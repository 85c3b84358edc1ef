//! State of the congestion control of a partition.

use super::section::Section;
use crate::control::{
    ControlRecords, ControlRule, ControlSettings, NicControl, NoticeKind, PairLimits, PathLatencies, PortControl,
    Rules, UNLIMITED,
};
use crate::division::Division;
use odonata_checkpoint::state;

/// Congestion control of a partition.
pub(super) struct Control {
    pub(super) nics: Vec<NicControl>,
    pub(super) ports: PortControl,
    pub(super) records: ControlRecords,
    /// Interval of the series; 0 without one.
    pub(super) interval_ps: u64,
    pub(super) settings: ControlSettings,
    pub(super) rules: Rules,
    pub(super) latencies: PathLatencies,
    /// Partition of each router.
    pub(super) parts: Vec<u16>,
    /// Notices of the current event: NIC, kind, bytes, time.
    pub(super) sent: Vec<(u32, NoticeKind, u32, u64)>,
}

state!(Control { value: nics, ports, records; rebuilt: interval_ps, settings, rules, latencies, parts, sent });

impl Control {
    /// Creates the control of a section, if it has one.
    pub(super) fn new(section: &Section, division: &Division, interval_ps: u64) -> Option<Box<Self>> {
        let settings = section.fabric.settings.control.clone();
        let nics = section.nics.len();
        settings.is_on().then(|| {
            Box::new(Self {
                nics: (0..nics).map(|_| NicControl::default()).collect(),
                ports: PortControl::new(nics),
                records: ControlRecords::default(),
                interval_ps,
                rules: Rules::new(&settings, section.full),
                settings,
                latencies: PathLatencies::default(),
                parts: (0..section.fabric.routers() as u32).map(|r| division.part_of(r) as u16).collect(),
                sent: Vec::new(),
            })
        })
    }
}

/// Round trip and maximum window of a pair of NICs.
pub(super) fn limits(
    section: &Section,
    settings: &ControlSettings,
    latencies: &mut PathLatencies,
    source: u32,
    destination: u32,
) -> PairLimits {
    let fabric = &section.fabric;
    let packet = fabric.full_time[fabric.nic_port[source as usize] as usize];
    let round_trip = latencies.between_nics(fabric, source, destination)
        + latencies.between_nics(fabric, destination, source)
        + packet;
    let of_round_trip = round_trip.div_ceil(packet) * u64::from(section.full);
    let window_max = settings.window.map_or_else(
        || match settings.rule() {
            ControlRule::Credit => 2 * of_round_trip,
            ControlRule::Fixed | ControlRule::Dctcp => of_round_trip,
            ControlRule::Nscc => 3 * of_round_trip / 2,
            ControlRule::Merlin | ControlRule::Dcqcn | ControlRule::Cct => UNLIMITED,
        },
        |window| window.0,
    );
    PairLimits { window_max, round_trip, packet_time: packet }
}
