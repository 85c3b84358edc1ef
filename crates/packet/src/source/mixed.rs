//! Jobs of different kinds at the same interfaces.
//!
//! An interface takes turns, packet by packet, among those kinds that have a packet to send. What it is told goes to the kind
//! that the job belongs to; each kind has a timer of its own.

use crate::endpoint::{Arrival, Departure, Endpoints, Listens, Offer, Outgoing, Socket, Unfinished};
use odonata_checkpoint::state;

struct Member {
    endpoints: Box<dyn Endpoints>,
    /// By interface: when its timer runs out; `u64::MAX` if it is not set.
    timers: Vec<u64>,
    listens: Vec<Listens>,
}

pub(super) struct MixedEndpoints {
    members: Vec<Member>,
    /// Member of each job.
    of_job: Vec<usize>,
    /// By interface: the member served last.
    served: Vec<usize>,
}

state!(Member { fixed: timers; inside: endpoints; built: listens });
state!(MixedEndpoints { fixed: served; inside: members; built: of_job });

impl MixedEndpoints {
    /// Of members, each with its jobs; every job has a member.
    pub(super) fn new(members: Vec<(Box<dyn Endpoints>, Vec<u16>)>, nics: u32) -> Self {
        let mut of_job = vec![0; members.iter().map(|(_, jobs)| jobs.len()).sum()];
        for (m, (_, jobs)) in members.iter().enumerate() {
            jobs.iter().for_each(|&job| of_job[usize::from(job)] = m);
        }
        let member = |(endpoints, _): (Box<dyn Endpoints>, _)| Member {
            listens: (0..nics).map(|nic| endpoints.listens(nic)).collect(),
            timers: vec![u64::MAX; nics as usize],
            endpoints,
        };
        let last = members.len() - 1;
        Self { members: members.into_iter().map(member).collect(), of_job, served: vec![last; nics as usize] }
    }

    /// Tells one member something, with the socket as it would be if that were alone.
    fn tell<T>(
        &mut self,
        m: usize,
        nic: u32,
        socket: &mut Socket,
        told: impl FnOnce(&mut dyn Endpoints, &mut Socket) -> T,
    ) -> T {
        let n = nic as usize;
        let member = &mut self.members[m];
        socket.turn_to(socket.now_ps(), member.timers[n]);
        let answer = told(&mut *member.endpoints, socket);
        member.timers[n] = socket.timer_ps().unwrap_or(u64::MAX);
        let earliest = self.members.iter().map(|member| member.timers[n]).min().unwrap_or(u64::MAX);
        socket.turn_to(socket.now_ps(), earliest);
        answer
    }
}

impl Endpoints for MixedEndpoints {
    fn next_birth_ps(&mut self, nic: u32) -> Option<u64> {
        self.members.iter_mut().filter_map(|member| member.endpoints.next_birth_ps(nic)).min()
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> Outgoing {
        let (last, count) = (self.served[nic as usize], self.members.len());
        let mut turns = (1..=count).map(|turn| (last + turn) % count);
        let made = |m: &usize| self.members[*m].endpoints.next_birth_ps(nic).is_some_and(|birth| birth <= leaves_ps);
        let m = turns.find(made).expect("something was made before it leaves");
        self.served[nic as usize] = m;
        self.members[m].endpoints.take(nic, leaves_ps)
    }

    fn offers_move(&self) -> bool {
        self.members.iter().any(|member| member.endpoints.offers_move())
    }

    fn listens(&self, nic: u32) -> Listens {
        self.members.iter().map(|member| member.listens[nic as usize]).max().unwrap_or_default()
    }

    fn begin(&mut self, nic: u32, socket: &mut Socket) {
        for m in 0..self.members.len() {
            if self.members[m].listens[nic as usize] > Listens::ToNothing {
                self.tell(m, nic, socket, |endpoints, socket| endpoints.begin(nic, socket));
            }
        }
    }

    fn left(&mut self, nic: u32, departure: &Departure, socket: &mut Socket) -> Offer {
        let m = self.of_job[usize::from(departure.job)];
        if self.members[m].listens[nic as usize] < Listens::ToDepartures {
            return Offer::Same;
        }
        self.tell(m, nic, socket, |endpoints, socket| endpoints.left(nic, departure, socket))
    }

    fn arrived(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        let m = self.of_job[usize::from(arrival.job)];
        if self.members[m].listens[nic as usize] < Listens::ToArrivals {
            return Offer::Same;
        }
        self.tell(m, nic, socket, |endpoints, socket| endpoints.arrived(nic, arrival, socket))
    }

    fn woken(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        let due = |member: &Member| member.timers[nic as usize] <= socket.now_ps();
        let m = self.members.iter().position(due).expect("somebody's timer ran out");
        self.members[m].timers[nic as usize] = u64::MAX;
        // Others whose timers run out now are woken after this.
        self.tell(m, nic, socket, |endpoints, socket| endpoints.woken(nic, socket))
    }

    fn memory_bytes(&self) -> usize {
        self.members.iter().map(|member| member.endpoints.memory_bytes()).sum()
    }

    fn owes(&self, before_ps: u64) -> bool {
        self.members.iter().any(|member| member.endpoints.owes(before_ps))
    }

    fn goes_on(&self, now_ps: u64) -> bool {
        self.members.iter().any(|member| member.endpoints.goes_on(now_ps))
    }

    fn end(&mut self, end_ps: u64) -> Vec<Unfinished> {
        self.members.iter_mut().flat_map(|member| member.endpoints.end(end_ps)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_checkpoint::{Damaged, Reader, State, Writer};
    use odonata_units::NodeId;
    use std::sync::{Arc, Mutex};

    /// Writes down what it is told.
    struct Diary(Listens, char, Arc<Mutex<String>>);

    impl State for Diary {
        fn save(&self, _: &mut Writer) {}

        fn load(&mut self, _: &mut Reader<'_>) -> Result<(), Damaged> {
            Ok(())
        }
    }

    impl Diary {
        fn write(&self, what: char) -> Offer {
            self.2.lock().unwrap().extend([self.1, what, ' ']);
            Offer::Changed
        }
    }

    impl Endpoints for Diary {
        fn next_birth_ps(&mut self, _: u32) -> Option<u64> {
            None
        }

        fn take(&mut self, _: u32, _: u64) -> Outgoing {
            unreachable!("it offers nothing")
        }

        fn listens(&self, _: u32) -> Listens {
            self.0
        }

        fn left(&mut self, _: u32, _: &Departure, _: &mut Socket) -> Offer {
            self.write('l')
        }

        fn arrived(&mut self, _: u32, _: &Arrival, _: &mut Socket) -> Offer {
            self.write('a')
        }

        fn owes(&self, _: u64) -> bool {
            false
        }
    }

    /// Each kind is told of its own jobs' packets, and only what it listens to.
    #[test]
    fn everybody_is_told_what_it_listens_to() {
        let diary = Arc::new(Mutex::new(String::new()));
        let kinds = [(Listens::ToNothing, 'n'), (Listens::ToArrivals, 'a'), (Listens::ToDepartures, 'd')];
        let members = kinds.into_iter().zip(0..).map(|((listens, name), job)| {
            (Box::new(Diary(listens, name, Arc::clone(&diary))) as Box<dyn Endpoints>, vec![job])
        });
        let mut mixed = MixedEndpoints::new(members.collect(), 1);
        assert_eq!(mixed.listens(0), Listens::ToDepartures);
        let mut socket = Socket::new(7, None);
        let mut changed = Vec::new();
        for job in 0..3 {
            let arrival =
                Arrival { at_ps: 7, source: NodeId(0), size: 1, job, message: 0, envelope: None, passage: None };
            changed.push(mixed.left(0, &Departure { at_ps: 7, job, message: 0 }, &mut socket) == Offer::Changed);
            changed.push(mixed.arrived(0, &arrival, &mut socket) == Offer::Changed);
        }
        assert_eq!(diary.lock().unwrap().as_str(), "aa dl da ");
        assert_eq!(changed, [false, false, false, true, true, true]);
    }
}
