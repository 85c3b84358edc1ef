//! Programs in sequence, and repeated.

use crate::call::{Call, EQUAL};
use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::representatives::Representatives;
use odonata_units::Bytes;
use std::sync::Arc;

/// Number of rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounds {
    /// A fixed number.
    Times(u32),
    /// Until the run does not wait for other jobs.
    Endless,
}

/// Programs of the same ranks in sequence: a rank starts the next program when it ends the one before. The whole
/// sequence may repeat, and each round ends with [`Call::Round`]. Open requests and communicators remain for the next
/// program.
#[derive(Debug)]
pub struct Sequence {
    programs: Vec<Arc<dyn RankProgram>>,
    /// Number of phases before each program.
    phases: Vec<u32>,
    rounds: Option<Rounds>,
}

impl Sequence {
    /// Programs in sequence, once and without [`Call::Round`].
    ///
    /// # Panics
    /// If there is no program, or their numbers of ranks differ.
    pub fn new(programs: Vec<Arc<dyn RankProgram>>) -> Self {
        let ranks = programs.first().expect("a program").ranks();
        assert!(programs.iter().all(|program| program.ranks() == ranks), "programs of the same ranks");
        let mut before = 0;
        let phases = programs.iter().map(|program| {
            let first = before;
            before += program.phases().len() as u32;
            first
        });
        let phases = phases.collect();
        Self { programs, phases, rounds: None }
    }

    /// A program, repeated.
    pub fn repeated(program: Arc<dyn RankProgram>, rounds: Rounds) -> Self {
        Self { programs: vec![program], phases: vec![0], rounds: Some(rounds) }
    }

    /// Blocks of one round.
    fn once(&self, rank: u32) -> u64 {
        self.programs.iter().fold(0, |sum: u64, program| sum.saturating_add(program.blocks(rank)))
    }

    /// The program of a block, its index, and the block's number in it. `None` at the end of a round.
    fn find(&self, rank: u32, index: u64) -> Option<(usize, &dyn RankProgram, u64)> {
        let mut left = if self.rounds.is_some() { index % self.once(rank).saturating_add(1) } else { index };
        for (place, program) in self.programs.iter().enumerate() {
            let blocks = program.blocks(rank);
            if left < blocks {
                return Some((place, &**program, left));
            }
            left -= blocks;
        }
        None
    }

    /// The program of a phase.
    fn of_phase(&self, phase: u32) -> usize {
        self.phases.partition_point(|first| *first <= phase) - 1
    }
}

impl RankProgram for Sequence {
    fn ranks(&self) -> u32 {
        self.programs[0].ranks()
    }

    fn blocks(&self, rank: u32) -> u64 {
        let once = self.once(rank);
        match self.rounds {
            None => once,
            // A rank without blocks has none in any round.
            Some(_) if once == 0 => 0,
            Some(Rounds::Times(times)) => once.saturating_add(1).saturating_mul(times.into()),
            Some(Rounds::Endless) => u64::MAX,
        }
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        let Some((place, program, index)) = self.find(rank, index) else {
            code.push(Call::Round);
            return;
        };
        program.block(rank, index, code);
        if self.programs.len() == 1 {
            return;
        }
        let count = self.programs.len() as u32;
        for call in code.calls_mut() {
            match call {
                Call::Mark { phase } => *phase += self.phases[place],
                Call::Collective { sizes, .. } if *sizes != EQUAL => *sizes = *sizes * count + place as u32,
                _ => {}
            }
        }
    }

    fn representatives(&self) -> Option<Representatives> {
        let (mut all, mut first) = (Representatives::default(), 0u64);
        if self.rounds.is_some() {
            return None;
        }
        for program in &self.programs {
            let own = program.representatives()?;
            all.push(first, own.blocks.iter().map(|block| (block.index, block.times)));
            all.is_estimate |= own.is_estimate;
            first = first.saturating_add(program.blocks(0));
        }
        Some(all)
    }

    fn times(&self, rank: u32, index: u64) -> u64 {
        self.find(rank, index).map_or(1, |(_, program, index)| program.times(rank, index))
    }

    fn size(&self, sizes: u32, from: u32, to: u32) -> Bytes {
        let count = self.programs.len() as u32;
        self.programs[(sizes % count) as usize].size(sizes / count, from, to)
    }

    fn splits(&self) -> bool {
        self.programs.iter().any(|program| program.splits())
    }

    fn streams(&self) -> u8 {
        self.programs.iter().map(|program| program.streams()).max().unwrap_or(0)
    }

    fn phases(&self) -> Vec<String> {
        self.programs.iter().flat_map(|program| program.phases()).collect()
    }

    fn is_communication(&self, phase: u32) -> bool {
        let place = self.of_phase(phase);
        self.programs[place].is_communication(phase - self.phases[place])
    }

    fn program_of(&self, phase: u32) -> u32 {
        match &self.programs[..] {
            [only] => only.program_of(phase),
            _ => self.of_phase(phase) as u32,
        }
    }

    fn program_at(&self, rank: u32, index: u64) -> Option<u32> {
        let (place, program, index) = self.find(rank, index)?;
        match self.programs.len() {
            1 => program.program_at(rank, index),
            _ => Some(place as u32),
        }
    }

    fn failure(&self) -> Option<String> {
        self.programs.iter().find_map(|program| program.failure())
    }

    fn place_word(&self) -> &'static str {
        self.programs[0].place_word()
    }

    fn line(&self, rank: u32, index: u64, place: usize) -> Option<u32> {
        let (_, program, index) = self.find(rank, index)?;
        program.line(rank, index, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::Cursor;
    use crate::rank_walks::{build, calls, untimed};
    use serde_json::json;

    fn programs() -> Vec<Arc<dyn RankProgram>> {
        let fft = [("nx", json!(16)), ("iterations", json!(1))];
        vec![build("lulesh", 12, &[("iterations", json!(1))]), build("fft-3d", 12, &fft), build("ring", 12, &[])]
    }

    /// The calls of the sequence are the calls of its programs, with other numbers of phases and sizes.
    #[test]
    fn a_sequence_is_its_programs_in_turn() {
        let parts = programs();
        let sequence = Sequence::new(parts.clone());
        let names: Vec<String> = parts.iter().flat_map(|part| part.phases()).collect();
        assert_eq!(sequence.phases(), names);
        for rank in 0..12 {
            let mut cursor = Cursor::default();
            for (number, part) in parts.iter().enumerate() {
                for call in calls(&**part, rank) {
                    match (call, cursor.next(&sequence, rank).expect("as many calls")) {
                        (Call::Mark { phase }, Call::Mark { phase: all }) => {
                            assert_eq!(sequence.phases()[all as usize], part.phases()[phase as usize]);
                            assert_eq!(sequence.program_of(all) as usize, number);
                            assert_eq!(sequence.is_communication(all), part.is_communication(phase));
                        }
                        (Call::Collective { sizes: own, .. }, Call::Collective { sizes, .. }) if own != EQUAL => {
                            let size = |to| (sequence.size(sizes, rank, to), part.size(own, rank, to));
                            assert!((0..12).map(size).all(|(all, own)| all == own));
                        }
                        (own, all) => assert_eq!(own, all),
                    }
                    assert_eq!(cursor.program(&sequence, rank), Some(number as u32));
                }
            }
            assert_eq!(cursor.next(&sequence, rank), None);
        }
        let each = parts.iter().map(|part| untimed(&**part).totals());
        let sum = each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert_eq!(untimed(&sequence).totals(), sum);
    }

    #[test]
    fn rounds_are_the_same_calls_over_and_over() {
        let program: Arc<dyn RankProgram> = Arc::new(Sequence::new(programs()));
        let once = calls(&*program, 5);
        let thrice = Sequence::repeated(Arc::clone(&program), Rounds::Times(3));
        let mut expected = once.clone();
        expected.push(Call::Round);
        assert_eq!(calls(&thrice, 5), expected.repeat(3));
        let endless = Sequence::repeated(program, Rounds::Endless);
        let mut cursor = Cursor::default();
        let first: Vec<Call> = (0..10 * expected.len()).map_while(|_| cursor.next(&endless, 5)).collect();
        assert_eq!(first, expected.repeat(10));
        assert_eq!((cursor.program(&endless, 5), endless.blocks(0)), (None, u64::MAX));
        assert_eq!((endless.phases(), endless.program_of(8)), (thrice.phases(), thrice.program_of(8)));
    }
}
