//! State of the congestion control of a partition.

use super::section::Section;
use crate::control::{
    ControlRecords, ControlRule, ControlSettings, NicControl, NoticeKind, PairLimits, PathLatencies, PortControl,
    Rules, UNLIMITED,
};
use crate::division::Division;
use odonata_checkpoint::state;
use std::sync::Arc;

/// Congestion control of a traffic class.
pub(super) struct ClassControl {
    pub(super) settings: ControlSettings,
    pub(super) rules: Rules,
    /// Maximum share of each link: the rate to which its control leads.
    share: f64,
}

/// Congestion control of a partition.
pub(super) struct Control {
    /// Class c of NIC n at `n * classes + c`: each class has its own pairs and queues.
    pub(super) nics: Vec<NicControl>,
    /// Ejection ports, by NIC and class as well.
    pub(super) ports: PortControl,
    pub(super) records: ControlRecords,
    /// Interval of the series; 0 without one.
    pub(super) interval_ps: u64,
    pub(super) classes: Vec<ClassControl>,
    pub(super) latencies: Arc<PathLatencies>,
    /// Partition of each router.
    pub(super) parts: Vec<u16>,
    /// Notices of the current event, all of one class: NIC, kind, bytes, time.
    pub(super) sent: Vec<(u32, NoticeKind, u32, u64)>,
}

state!(Control { value: nics, ports, records; rebuilt: interval_ps, classes, latencies, parts, sent });

impl Control {
    /// Creates the control of a section, if it has one.
    pub(super) fn new(section: &Section, division: &Division, interval_ps: u64) -> Option<Box<Self>> {
        let settings = &section.fabric.settings;
        let places = section.nics.len() * section.classes;
        let class = |class: usize| ClassControl {
            settings: settings.control_of(class).clone(),
            rules: Rules::new(settings.control_of(class), section.full),
            share: settings.classes.list.get(class).map_or(1.0, |class| class.settings.maximum_share),
        };
        settings.has_control().then(|| {
            Box::new(Self {
                nics: (0..places).map(|_| NicControl::default()).collect(),
                ports: PortControl::new(places),
                records: ControlRecords::default(),
                interval_ps,
                classes: (0..section.classes).map(class).collect(),
                latencies: Arc::clone(&section.latencies),
                parts: (0..section.fabric.routers() as u32).map(|r| division.part_of(r) as u16).collect(),
                sent: Vec::new(),
            })
        })
    }

    /// Whether a port of a class may have notices for its sources after a departure.
    pub(super) fn has_sources(&self, place: usize, class: usize) -> bool {
        self.ports.is_congested(place) || self.classes[class].settings.rule() == ControlRule::Merlin
    }
}

impl ClassControl {
    /// Time of a full packet at the rate that the class may have, if it takes `full_time` at the rate of the link.
    pub(super) fn full_time(&self, full_time: u64) -> u64 {
        if self.share < 1.0 {
            (full_time as f64 / self.share).round() as u64
        } else {
            full_time
        }
    }
}

/// Round trip and maximum window of a pair of NICs.
pub(super) fn limits(
    section: &Section,
    class: &ClassControl,
    latencies: &PathLatencies,
    source: u32,
    destination: u32,
) -> PairLimits {
    let (fabric, settings) = (&section.fabric, &class.settings);
    let on_link = fabric.full_time[fabric.nic_port[source as usize] as usize];
    let packet = class.full_time(on_link);
    let round_trip = latencies.round_trip(fabric, source, destination) + on_link;
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
