//! Checkpoint of ranks and their NICs.

use super::RankEndpoints;
use odonata_checkpoint::{DecodeError, Reader, State, Writer};
use odonata_programs::GroupLists;

impl State for RankEndpoints {
    fn save(&self, into: &mut Writer) {
        let Self { log, calls, nic_choice, reorder, nics, ranks, unfinished, on_node_awaited, .. } = self;
        into.put(&(log, calls, unfinished, on_node_awaited));
        nic_choice.save(into);
        reorder.save(into);
        nics.save(into);
        let (mut lists, mut of_ranks) = (GroupLists::default(), Writer::default());
        ranks.iter().for_each(|rank| rank.save(&mut lists, &mut of_ranks));
        lists.save(into);
        into.put(&of_ranks.into_bytes());
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        (self.log, self.calls, self.unfinished, self.on_node_awaited) = from.get()?;
        self.nic_choice.load(from)?;
        self.reorder.load(from)?;
        self.nics.load(from)?;
        let lists = GroupLists::load(from)?;
        let of_ranks: Vec<u8> = from.get()?;
        let mut of_ranks = Reader::new(&of_ranks);
        for rank in &mut self.ranks {
            let job = self.jobs.iter().find(|of| of.job == rank.job).expect("a job of this program");
            rank.load(&job.shared, &lists, &mut of_ranks)?;
        }
        of_ranks.end()
    }
}
