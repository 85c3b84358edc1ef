//! What is wrong with a program, found without a run: one walk over the calls of all ranks.
//!
//! Found are calls that can't be (a rank or a communicator that is not there, a request that was never begun or is in use),
//! collectives that the ranks of a communicator call in another order or with another size, and sends without receives. Which
//! message a wildcard takes, who waits for whom, and whether a message is longer than its receive, only a run says.
//!
//! Ranks are walked through in parcels, a few calls of each in turn, as programs are fastest where ranks ask for the same
//! block at about the same time.

mod agreement;
mod balance;
mod requests;
#[cfg(test)]
mod tests;

use crate::expanded::{Expanded, Shared};
use crate::program::Call;
use agreement::{Agreement, Owns};
use balance::Balance;
use requests::Requests;

/// Calls of all ranks of a job that are looked at: 1.4 s on one processor of 2.5 GHz.
pub const MOST_CALLS: u64 = 20_000_000;

/// Ranks that are walked through side by side, and calls of each in turn.
const PARCEL: u32 = 1_024;
const TURN: u32 = 64;

/// A call that can't be: where, why, what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mistake(pub(crate) String);

/// What is known of a program in which every call can be.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Examined {
    /// Sends that nobody receives and receives of what nobody sends, in words.
    pub unmatched: Option<String>,
    /// What was not looked at, in words.
    pub left_out: Option<String>,
}

/// Looks through the calls of all ranks, at most `most` of them.
pub(crate) fn examine(shared: &Shared, most: u64) -> Result<Examined, Mistake> {
    let ranks = shared.program.ranks();
    let each = (most / u64::from(ranks.max(1))).max(1);
    let mut walk = Walk { shared, each, agreement: Agreement::default(), balance: Balance::new(), is_cut: false };
    for first in (0..ranks).step_by(PARCEL as usize) {
        walk.parcel(first..ranks.min(first + PARCEL))?;
    }
    let Walk { agreement, balance, is_cut, .. } = walk;
    if is_cut {
        let left_out = format!(
            "of each of its {ranks} ranks the first {each} calls were looked at; whether later ones can be, ranks agree on \
             collectives and every send has its receive is not known before the run"
        );
        return Ok(Examined { unmatched: None, left_out: Some(left_out) });
    }
    if !agreement.is_full {
        agreement.all_made(shared)?;
    }
    let mut examined = Examined::default();
    if agreement.is_full {
        examined.left_out = Some("it makes too many communicators for all of their collectives to be looked at".into());
    }
    if !balance.wild && !balance.is_even() {
        let mut unmatched = balance.unmatched();
        for rank in 0..ranks {
            let mut walker = Walker::new(shared, rank);
            while walker.step(shared)? {
                walker.last.iter().for_each(|call| unmatched.add(rank, call));
            }
        }
        examined.unmatched = Some(unmatched.words());
    }
    Ok(examined)
}

struct Walk<'a> {
    shared: &'a Shared,
    /// Calls of each rank.
    each: u64,
    agreement: Agreement,
    balance: Balance,
    is_cut: bool,
}

impl Walk<'_> {
    /// Walks through some ranks.
    fn parcel(&mut self, ranks: std::ops::Range<u32>) -> Result<(), Mistake> {
        let mut walkers: Vec<Walker> = ranks.map(|rank| Walker::new(self.shared, rank)).collect();
        let mut mistake = Ok(());
        while mistake.is_ok() && !walkers.is_empty() {
            walkers.retain_mut(|walker| match self.turn(walker) {
                _ if mistake.is_err() => false,
                Ok(goes_on) => goes_on,
                Err(found) => {
                    mistake = Err(found);
                    false
                }
            });
        }
        mistake
    }

    /// Some calls of a rank; whether there are more to look at.
    fn turn(&mut self, walker: &mut Walker) -> Result<bool, Mistake> {
        for _ in 0..TURN {
            if !walker.step(self.shared)? {
                if !self.is_cut {
                    self.agreement.finish(self.shared, walker)?;
                }
                return Ok(false);
            }
            if walker.code.calls() > self.each {
                self.is_cut = true;
                return Ok(false);
            }
            if let Some(call) = &walker.last {
                self.balance.add(walker.rank, call);
            }
            if !self.is_cut {
                self.agreement.follow(self.shared, walker)?;
            }
        }
        Ok(true)
    }
}

/// One rank on its way through its program.
#[derive(Clone, Debug)]
struct Walker {
    rank: u32,
    code: Expanded,
    requests: Requests,
    owns: Owns,
    /// The call that was made last; its peer is a rank of the job.
    last: Option<Call>,
}

impl Walker {
    fn new(shared: &Shared, rank: u32) -> Self {
        let ranks = shared.program.ranks();
        let (requests, owns) = (Requests::default(), Owns::new(ranks));
        Self { rank, code: Expanded::new(ranks, rank), requests, owns, last: None }
    }

    /// Makes the next call; false at the end.
    fn step(&mut self, shared: &Shared) -> Result<bool, Mistake> {
        let next = self.code.next_call(shared).and_then(|call| {
            call.iter().try_for_each(|call| self.requests.follow(call))?;
            Ok(call)
        });
        match next {
            Ok(call) => {
                self.last = call;
                Ok(call.is_some())
            }
            Err(reason) => {
                let call = self.code.last().map_or_else(String::new, |call| call.to_string());
                Err(Mistake(format!("{}: {call}: {reason}", self.place(shared))))
            }
        }
    }

    /// Rank, call and line of what was called last.
    fn place(&self, shared: &Shared) -> String {
        format!("rank {}, {}", self.rank, self.code.place(shared))
    }
}

/// The place of a call of a rank.
fn place(shared: &Shared, rank: u32, call: u64) -> String {
    let mut walker = Walker::new(shared, rank);
    while walker.code.calls() < call && matches!(walker.step(shared), Ok(true)) {}
    walker.place(shared)
}
