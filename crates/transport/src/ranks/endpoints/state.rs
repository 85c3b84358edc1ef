//! The state of the ranks and NICs: as bytes, and relative to now.

use super::{index_of, NicState, RankEndpoints};
use crate::ranks::records::Records;
use crate::relative::NicPlace;
use odonata_checkpoint::{DecodeError, Reader, Snapshot, State, Writer};
use odonata_programs::GroupLists;

impl State for RankEndpoints {
    fn save(&self, into: &mut Writer) {
        let Records { messages, calls, .. } = &self.records;
        into.put(&(messages, calls, self.unfinished, &self.on_node_messages));
        self.nic_choice.save(into);
        self.reorder.save(into);
        self.nics.save(into);
        let (mut lists, mut of_ranks) = (GroupLists::default(), Writer::default());
        self.ranks.iter().for_each(|rank| rank.save(&mut lists, &mut of_ranks));
        lists.save(into);
        into.put(&of_ranks.into_bytes());
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        (self.records.messages, self.records.calls, self.unfinished, self.on_node_messages) = from.get()?;
        self.nic_choice.load(from)?;
        self.reorder.load(from)?;
        self.nics.load(from)?;
        let lists = GroupLists::load(from)?;
        let of_ranks: Vec<u8> = from.get()?;
        let mut of_ranks = Reader::new(&of_ranks);
        for rank in &mut self.ranks {
            rank.load(&self.jobs[index_of(&self.jobs, rank.job)].work, &lists, &mut of_ranks)?;
        }
        of_ranks.end()
    }
}

impl RankEndpoints {
    /// Adds the state to a snapshot, without records.
    pub(super) fn put_into(&self, into: &mut Snapshot) {
        let Self {
            jobs: _,
            settings: _,
            routers: _,
            records: _,
            all_records: _,
            nic_choice,
            reorder,
            per_node,
            sizes: _,
            hosts,
            nics,
            ranks,
            unfinished,
            has_background: _,
            on_node_messages,
            inbound: _,
            on_node: _,
            loops,
        } = self;
        into.part("unfinished ranks");
        into.put(&(unfinished, on_node_messages));
        // Only rails and memory FIFOs have this state. It counts messages, so it never repeats.
        let mut bytes = Writer::default();
        nic_choice.save(&mut bytes);
        reorder.save(&mut bytes);
        into.put(&bytes.into_bytes());
        for (nic, state) in (0u32..).zip(nics) {
            let Some(NicState { outboxes, inbox }) = state.as_deref() else { continue };
            let own = NicPlace { node: hosts[(nic / per_node) as usize].node.0.into(), nic: (nic % per_node) as u16 };
            // A run with several traffic classes is not skipped, so there is one.
            into.part("outgoing messages");
            outboxes.iter().for_each(|outbox| outbox.snapshot(own, into));
            into.part("incoming messages");
            inbox.snapshot(own, into);
        }
        into.part("ranks");
        let mut lists = GroupLists::default();
        for (r, rank) in ranks.iter().enumerate() {
            rank.snapshot(loops.as_ref().map(|loops| loops.repetition(r)), &mut lists, into);
        }
    }
}
