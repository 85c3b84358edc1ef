//! State of the traffic classes of a partition.

use super::flow_state::Flows;
use super::section::Section;
use crate::traffic_class::ClassServer;
use odonata_checkpoint::state;
use serde::{Deserialize, Serialize};

/// What a NIC knows of a class.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct ClassOffer {
    /// Time at which its next packet exists and the link is free; `u64::MAX` if no packet is known.
    pub(super) ready: u64,
    /// Its space at the router.
    pub(super) credit: u32,
}

/// Traffic classes of a partition.
pub(super) struct Classes {
    pub(super) ports: ClassServer,
    pub(super) nics: ClassServer,
    pub(super) flows: Flows,
    /// Class c of NIC n at `n * classes + c`.
    pub(super) offers: Vec<ClassOffer>,
}

state!(Classes { same_length: offers; nested: ports, nics, flows });

impl Classes {
    /// Creates the classes of a section, if it distinguishes any.
    pub(super) fn new(section: &Section) -> Option<Box<Self>> {
        let (settings, nics) = (&section.fabric.settings, section.nics.len());
        let offer = ClassOffer { ready: u64::MAX, credit: section.fabric.injection_room() };
        section.has_classes().then(|| {
            Box::new(Self {
                ports: ClassServer::new(&settings.classes, section.ports.len(), section.full),
                nics: ClassServer::new(&settings.classes, nics, section.full),
                flows: Flows::new(&settings.classes),
                offers: vec![offer; nics * section.classes],
            })
        })
    }

    /// Upper bits of the rank of a packet at the crossbar: higher priorities are served first.
    #[inline]
    pub(super) fn crossbar_rank(&self, class: usize) -> u64 {
        self.ports.crossbar_rank(class)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.ports.memory_bytes()
            + self.nics.memory_bytes()
            + self.flows.memory_bytes()
            + self.offers.capacity() * size_of::<ClassOffer>()
    }
}
