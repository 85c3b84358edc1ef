//! Injection FIFOs of a node, as in Blue Gene: their settings and the choice of memory FIFOs.
//!
//! ```text
//! messages ─► memory FIFOs (descriptors in memory, processed in order) ─► torus FIFOs (few packets) ─► router
//! ```
//! Each memory FIFO has a mask of the torus FIFOs that it may feed. It sends each packet to one of them that has
//! space. A torus FIFO passes one packet at a time at the rate of the router's links. Its head packet chooses the
//! output. So a message in one torus FIFO gets the rate of one link at most, however many paths exist.

use crate::settings_error::SettingsError;
use odonata_declare::{parameters, words, Kind};
use odonata_machine::Machine;
use odonata_routing::hints::Compass;
use odonata_units::{NodeId, RouterId};

words! {
    /// Rule that selects the memory FIFO of a message.
    #[derive(Default)]
    pub enum FifoChoice {
        #[default]
        ByDirection = "by-direction": "by the first direction of its path: number 2 d for up along dimension d, 2 d + 1 for down",
        Pin = "pin": "as in the messaging software of Blue Gene/Q: along one dimension by direction, 2 d for down and 2 d + 1 for up; otherwise by the sum of the coordinate distances",
        RoundRobin = "round-robin": "the next one for every message",
        ByDestination = "by-destination": "by the number of the destination's node",
    }
}

words! {
    /// Injection FIFOs by name.
    pub enum InjectionPreset {
        Dcmf = "dcmf": "Blue Gene/P: six memory FIFOs by direction, each to one of six torus FIFOs",
        DcmfSpread = "dcmf-spread": "the same, but each may feed all six torus FIFOs",
        All = "all": "one memory FIFO that may feed all six torus FIFOs",
        Pami = "pami": "Blue Gene/Q: ten memory FIFOs, to which destinations are pinned, each to one of ten torus FIFOs",
        PamiAll = "pami-all": "the same, but each may feed all ten torus FIFOs",
    }
}

/// Maximum number of torus FIFOs and of memory FIFOs per node.
pub const FIFOS_MAX: u32 = 16;

parameters! {
    /// Injection FIFOs of every node.
    #[derive(PartialEq, Eq)]
    pub struct InjectionFifos {
        /// Source of the other keys that are not given. The defaults in this table are the values of `dcmf`.
        pub preset: InjectionPreset = InjectionPreset::Dcmf => Self::of;
        /// Torus FIFOs of a node; each passes one packet at a time at the rate of a link.
        pub fifos: u32 = 6, Kind::COUNT;
        /// Mask of torus FIFOs for each memory FIFO of a node: bit t allows torus FIFO t.
        pub map: Vec<u32> = each(6), Kind::List(&Kind::count(0));
        /// Rule that selects the memory FIFO of a message.
        pub fifo_choice: FifoChoice = FifoChoice::ByDirection;
        /// Capacity of a torus FIFO in packets.
        pub fifo_packets: u32 = 4, Kind::COUNT;
    }
}

/// Masks of memory FIFOs that feed one torus FIFO each.
fn each(fifos: u32) -> Vec<u32> {
    (0..fifos).map(|t| 1 << t).collect()
}

/// Masks of memory FIFOs that may feed all torus FIFOs.
fn all(fifos: u32, memory: usize) -> Vec<u32> {
    vec![(1 << fifos) - 1; memory]
}

impl InjectionFifos {
    /// FIFOs of a preset.
    pub fn of(preset: InjectionPreset) -> Self {
        let default = Self { preset, ..Self::default() };
        match preset {
            InjectionPreset::Dcmf => default,
            InjectionPreset::DcmfSpread => Self { map: all(6, 6), ..default },
            InjectionPreset::All => Self { map: all(6, 1), fifo_choice: FifoChoice::RoundRobin, ..default },
            InjectionPreset::Pami => Self { fifos: 10, map: each(10), fifo_choice: FifoChoice::Pin, ..default },
            InjectionPreset::PamiAll => Self { fifos: 10, map: all(10, 10), fifo_choice: FifoChoice::Pin, ..default },
        }
    }

    /// Checks the number of FIFOs and the masks.
    ///
    /// # Errors
    /// The wrong number.
    pub fn check(&self) -> Result<(), SettingsError> {
        let wrong =
            |key: &str, reason: String| Err(SettingsError { setting: format!("engine.injection.{key}"), reason });
        if !(1..=FIFOS_MAX).contains(&self.fifos) {
            return wrong("fifos", format!("{} is not between 1 and {FIFOS_MAX} torus FIFOs", self.fifos));
        }
        if !(1..=FIFOS_MAX as usize).contains(&self.map.len()) {
            return wrong(
                "map",
                format!("{} masks; expected one for each of 1 to {FIFOS_MAX} memory FIFOs", self.map.len()),
            );
        }
        if !(1..=64).contains(&self.fifo_packets) {
            return wrong("fifo_packets", format!("{} is not between 1 and 64 packets", self.fifo_packets));
        }
        let last = self.fifos - 1;
        for (memory, &mask) in self.map.iter().enumerate() {
            if mask == 0 {
                return wrong(
                    "map",
                    format!(
                        "mask {memory} is 0, so memory FIFO {memory} feeds no torus FIFO; expected bits 0 to {last}"
                    ),
                );
            }
            if mask >> self.fifos != 0 {
                let (bit, nearest) = (mask.ilog2(), mask & ((1 << self.fifos) - 1));
                let hint = if nearest == 0 { String::new() } else { format!("; did you mean {nearest}?") };
                return wrong(
                    "map",
                    format!("mask {memory} is {mask}: bit {bit} names no torus FIFO; expected bits 0 to {last}{hint}"),
                );
            }
        }
        Ok(())
    }

    /// Whether taking a packet at one torus FIFO may change the next packet of another.
    pub(crate) fn share(&self) -> bool {
        self.map.iter().any(|mask| mask.count_ones() > 1)
    }
}

/// Selects memory FIFOs on one machine.
#[derive(Debug)]
pub(crate) struct FifoSelector {
    pub(crate) fifos: InjectionFifos,
    /// `None` unless the machine is a torus or mesh.
    compass: Option<Compass>,
    router_of: Vec<RouterId>,
}

impl FifoSelector {
    pub(crate) fn new(machine: &Machine, fifos: &InjectionFifos) -> Self {
        Self {
            fifos: fifos.clone(),
            compass: Compass::of(machine.shape()),
            router_of: machine.nodes().map(|node| machine.router_of(node)).collect(),
        }
    }

    /// Memory FIFO of message `number` of a node.
    pub(crate) fn select(&self, source: NodeId, destination: NodeId, number: u64) -> u32 {
        let memory = self.fifos.map.len() as u64;
        let [from, to] = [source, destination].map(|node| self.router_of[node.index()]);
        let place = match (self.fifos.fifo_choice, &self.compass) {
            (FifoChoice::RoundRobin, _) => number,
            (FifoChoice::ByDirection, Some(compass)) => {
                u64::from(compass.directions(from, to).bits().trailing_zeros() % 32)
            }
            (FifoChoice::Pin, Some(compass)) => pinned(compass, from, to),
            (FifoChoice::ByDestination, _) | (_, None) => u64::from(destination.0),
        };
        (place % memory) as u32
    }
}

/// Pinning of destinations by the messaging software of Blue Gene/Q. Off the axes, distances ignore the wrap-around.
fn pinned(compass: &Compass, from: RouterId, to: RouterId) -> u64 {
    let directions = compass.directions(from, to);
    let mut steps = directions.within(u16::MAX);
    match (steps.next(), steps.next()) {
        (Some(step), None) => 2 * step.dimension as u64 + u64::from(!step.down),
        _ => {
            let ends = compass.coordinates(from).iter().zip(compass.coordinates(to));
            ends.map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_machine::presets;

    #[test]
    fn presets_are_valid() {
        for preset in [
            InjectionPreset::Dcmf,
            InjectionPreset::DcmfSpread,
            InjectionPreset::All,
            InjectionPreset::Pami,
            InjectionPreset::PamiAll,
        ] {
            InjectionFifos::of(preset).check().unwrap();
        }
        assert_eq!(InjectionFifos::of(InjectionPreset::Dcmf).map, [1, 2, 4, 8, 16, 32]);
        assert_eq!(InjectionFifos::of(InjectionPreset::All).map, [63]);
    }

    #[test]
    fn errors_name_the_wrong_mask() {
        let wrong = |fifos: u32, map: &[u32]| {
            let own = InjectionFifos { fifos, map: map.to_vec(), ..InjectionFifos::of(InjectionPreset::Dcmf) };
            own.check().unwrap_err().to_string()
        };
        assert_eq!(
            wrong(6, &[1, 0]),
            "engine.injection.map: mask 1 is 0, so memory FIFO 1 feeds no torus FIFO; expected bits 0 to 5"
        );
        assert_eq!(
            wrong(6, &[1, 65]),
            "engine.injection.map: mask 1 is 65: bit 6 names no torus FIFO; expected bits 0 to 5; did you mean 1?"
        );
        assert!(wrong(0, &[1]).starts_with("engine.injection.fifos: 0 is not between 1 and 16"));
        assert!(wrong(6, &[]).starts_with("engine.injection.map: 0 masks; expected one for each of 1 to 16"));
    }

    /// On 4 x 4 x 4 x 4 x 2 from the origin: by direction X+ 0, X- 1, Y+ 2, ..; pinned A- 0, A+ 1, .., E+ 9. Off the
    /// axes: the sum of the coordinates.
    #[test]
    fn messages_find_their_memory_fifo() {
        let machine = presets::builder("bgq-midplane").unwrap().build().unwrap();
        let node = |c: [u32; 5]| NodeId(c.iter().zip([4, 4, 4, 4, 2]).fold(0, |node, (x, n)| node * n + x));
        let pick = |pick: FifoChoice, to: [u32; 5]| {
            let fifos = InjectionFifos { fifo_choice: pick, ..InjectionFifos::of(InjectionPreset::Pami) };
            FifoSelector::new(&machine, &fifos).select(node([0; 5]), node(to), 12)
        };
        assert_eq!(pick(FifoChoice::ByDirection, [0, 3, 1, 0, 0]), 3);
        assert_eq!(pick(FifoChoice::ByDirection, [0, 0, 0, 0, 1]), 8);
        assert_eq!(pick(FifoChoice::Pin, [3, 0, 0, 0, 0]), 0);
        assert_eq!(pick(FifoChoice::Pin, [0, 0, 0, 0, 1]), 9);
        assert_eq!(pick(FifoChoice::Pin, [3, 3, 3, 2, 1]), 2);
        assert_eq!(pick(FifoChoice::RoundRobin, [3, 3, 3, 2, 1]), 2);
        assert_eq!(pick(FifoChoice::ByDestination, [0, 0, 0, 2, 1]), 5);
    }
}
