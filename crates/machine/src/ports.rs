//! Ports of the routers.

use odonata_declare::OneOrEach;

/// Ports of the routers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RouterPorts {
    /// Ports of each router.
    pub count: OneOrEach<u32>,
    /// Ports that a NIC takes at each router; 0 if NICs have ports of their own, as the processor tiles of Aries.
    pub per_nic: OneOrEach<u32>,
}

impl RouterPorts {
    /// The same number at all routers; a NIC takes one.
    pub(crate) fn of_all(count: u32) -> Self {
        Self { count: OneOrEach::One(count), per_nic: OneOrEach::One(1) }
    }

    /// Adds `more` ports to every router and removes `fewer`.
    pub(crate) fn change(&mut self, more: u32, fewer: u32) {
        let changed = |count: u32| count.saturating_add(more).saturating_sub(fewer);
        match &mut self.count {
            OneOrEach::One(count) => *count = changed(*count),
            OneOrEach::Each(counts) => counts.iter_mut().for_each(|count| *count = changed(*count)),
        }
    }

    /// The ports of `copies` copies of the routers.
    pub(crate) fn copies(&self, copies: u32) -> Self {
        let copy = |values: &OneOrEach<u32>| match values {
            OneOrEach::One(value) => OneOrEach::One(*value),
            OneOrEach::Each(values) => OneOrEach::Each(values.repeat(copies as usize)),
        };
        Self { count: copy(&self.count), per_nic: copy(&self.per_nic) }
    }

    /// The ports of a range of routers.
    pub(crate) fn of_routers(&self, routers: std::ops::Range<usize>) -> Self {
        let part = |values: &OneOrEach<u32>| match values {
            OneOrEach::One(value) => OneOrEach::One(*value),
            OneOrEach::Each(values) => OneOrEach::Each(values[routers.clone()].to_vec()),
        };
        Self { count: part(&self.count), per_nic: part(&self.per_nic) }
    }
}
