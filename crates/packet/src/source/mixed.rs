//! Jobs of different kinds or traffic classes at the same NICs.
//!
//! A NIC serves the kinds of one class that have a packet in turn, packet by packet. A notification goes to the kind of its job.
//! Each kind has its own timer.

use crate::endpoint::{Arrival, Departure, Endpoints, Offer, OutgoingPacket, Socket, Subscription, UnfinishedEndpoint};
use odonata_checkpoint::state;

struct MixedMember {
    endpoints: Box<dyn Endpoints>,
    /// Traffic class of its packets; it offers packets by class if there is none.
    class: Option<u8>,
    /// Expiry of its timer by NIC; `u64::MAX` if it is not set.
    timers: Vec<u64>,
    subscriptions: Vec<Subscription>,
}

impl MixedMember {
    fn next_created_in(&mut self, nic: u32, class: u8) -> Option<u64> {
        match self.class {
            Some(own) => (own == class).then(|| self.endpoints.next_created_ps(nic)).flatten(),
            None => self.endpoints.next_created_in(nic, class),
        }
    }

    fn take_in(&mut self, nic: u32, class: u8, leaves_ps: u64) -> OutgoingPacket {
        match self.class {
            Some(_) => self.endpoints.take(nic, leaves_ps),
            None => self.endpoints.take_in(nic, class, leaves_ps),
        }
    }
}

/// Endpoints of one kind.
pub(super) struct Member {
    pub(super) endpoints: Box<dyn Endpoints>,
    pub(super) jobs: Vec<u16>,
    /// Traffic class of its packets; it offers packets by class if there is none.
    pub(super) class: Option<u8>,
}

pub(super) struct MixedEndpoints {
    members: Vec<MixedMember>,
    /// Member of each job.
    of_job: Vec<usize>,
    /// Last served member, by traffic class and NIC.
    served: Vec<usize>,
    nics: u32,
}

state!(MixedMember { same_length: timers; nested: endpoints; rebuilt: class, subscriptions });
state!(MixedEndpoints { same_length: served; nested: members; rebuilt: of_job, nics });

impl MixedEndpoints {
    /// Creates the endpoints from members with their jobs, for some traffic classes. Every job has a member. It has
    /// several only if these need no notifications.
    pub(super) fn new(members: Vec<Member>, nics: u32, classes: usize) -> Self {
        let jobs = members.iter().flat_map(|member| &member.jobs).max().map_or(0, |last| usize::from(*last) + 1);
        let mut of_job = vec![0; jobs];
        for (m, Member { jobs, .. }) in members.iter().enumerate() {
            jobs.iter().for_each(|&job| of_job[usize::from(job)] = m);
        }
        let member = |Member { endpoints, class, .. }: Member| MixedMember {
            class,
            subscriptions: (0..nics).map(|nic| endpoints.subscription(nic)).collect(),
            timers: vec![u64::MAX; nics as usize],
            endpoints,
        };
        let last = members.len() - 1;
        let served = vec![last; classes * nics as usize];
        Self { members: members.into_iter().map(member).collect(), of_job, served, nics }
    }

    /// Takes the packet of the next member with a packet among those whose offer `next` returns. `turn` is the place
    /// of their turn.
    fn take_turn(
        &mut self,
        turn: usize,
        leaves_ps: u64,
        next: impl Fn(&mut MixedMember) -> Option<u64>,
        take: impl FnOnce(&mut MixedMember) -> OutgoingPacket,
    ) -> OutgoingPacket {
        let (last, count) = (self.served[turn], self.members.len());
        let mut turns = (1..=count).map(|turn| (last + turn) % count);
        let made = |m: &usize| next(&mut self.members[*m]).is_some_and(|created| created <= leaves_ps);
        let m = turns.find(made).expect("a packet exists at its departure");
        self.served[turn] = m;
        take(&mut self.members[m])
    }

    /// Notifies one member, with the socket as if it were the only one.
    fn notify<T>(
        &mut self,
        m: usize,
        nic: u32,
        socket: &mut Socket,
        event: impl FnOnce(&mut dyn Endpoints, &mut Socket) -> T,
    ) -> T {
        let n = nic as usize;
        let member = &mut self.members[m];
        socket.turn_to(socket.now_ps(), member.timers[n]);
        let answer = event(&mut *member.endpoints, socket);
        member.timers[n] = socket.timer_ps().unwrap_or(u64::MAX);
        let earliest = self.members.iter().map(|member| member.timers[n]).min().unwrap_or(u64::MAX);
        socket.turn_to(socket.now_ps(), earliest);
        answer
    }
}

impl Endpoints for MixedEndpoints {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        self.members.iter_mut().filter_map(|member| member.endpoints.next_created_ps(nic)).min()
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        self.take_turn(
            nic as usize,
            leaves_ps,
            |member| member.endpoints.next_created_ps(nic),
            |member| member.endpoints.take(nic, leaves_ps),
        )
    }

    fn next_created_in(&mut self, nic: u32, class: u8) -> Option<u64> {
        self.members.iter_mut().filter_map(|member| member.next_created_in(nic, class)).min()
    }

    fn take_in(&mut self, nic: u32, class: u8, leaves_ps: u64) -> OutgoingPacket {
        self.take_turn(
            (u32::from(class) * self.nics + nic) as usize,
            leaves_ps,
            |member| member.next_created_in(nic, class),
            |member| member.take_in(nic, class, leaves_ps),
        )
    }

    fn hold(&mut self, nic: u32, job: u16) {
        self.members[self.of_job[usize::from(job)]].endpoints.hold(nic, job);
    }

    fn release(&mut self, nic: u32, job: u16, leaves_ps: u64) {
        self.members[self.of_job[usize::from(job)]].endpoints.release(nic, job, leaves_ps);
    }

    fn has_coupled_offers(&self) -> bool {
        self.members.iter().any(|member| member.endpoints.has_coupled_offers())
    }

    fn subscription(&self, nic: u32) -> Subscription {
        self.members.iter().map(|member| member.subscriptions[nic as usize]).max().unwrap_or_default()
    }

    fn on_start(&mut self, nic: u32, socket: &mut Socket) {
        for m in 0..self.members.len() {
            if self.members[m].subscriptions[nic as usize] > Subscription::Nothing {
                self.notify(m, nic, socket, |endpoints, socket| endpoints.on_start(nic, socket));
            }
        }
    }

    fn on_departure(&mut self, nic: u32, departure: &Departure, socket: &mut Socket) -> Offer {
        let m = self.of_job[usize::from(departure.job)];
        if self.members[m].subscriptions[nic as usize] < Subscription::Departures {
            return Offer::Same;
        }
        self.notify(m, nic, socket, |endpoints, socket| endpoints.on_departure(nic, departure, socket))
    }

    fn on_arrival(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        let m = self.of_job[usize::from(arrival.job)];
        if self.members[m].subscriptions[nic as usize] < Subscription::Arrivals {
            return Offer::Same;
        }
        self.notify(m, nic, socket, |endpoints, socket| endpoints.on_arrival(nic, arrival, socket))
    }

    fn on_timer(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        let due = |member: &MixedMember| member.timers[nic as usize] <= socket.now_ps();
        let m = self.members.iter().position(due).expect("a timer has expired");
        self.members[m].timers[nic as usize] = u64::MAX;
        // Other members with timers due now are woken after this.
        self.notify(m, nic, socket, |endpoints, socket| endpoints.on_timer(nic, socket))
    }

    fn memory_bytes(&self) -> usize {
        self.members.iter().map(|member| member.endpoints.memory_bytes()).sum()
    }

    fn has_work(&self, before_ps: u64) -> bool {
        self.members.iter().any(|member| member.endpoints.has_work(before_ps))
    }

    fn apply_load_steps(&mut self, nic: u32) -> bool {
        // Each member must apply its own.
        self.members.iter_mut().fold(false, |changed, member| member.endpoints.apply_load_steps(nic) | changed)
    }

    fn will_act(&self, now_ps: u64) -> bool {
        self.members.iter().any(|member| member.endpoints.will_act(now_ps))
    }

    fn on_end(&mut self, end_ps: u64) -> Vec<UnfinishedEndpoint> {
        self.members.iter_mut().flat_map(|member| member.endpoints.on_end(end_ps)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_checkpoint::{DecodeError, Reader, State, Writer};
    use odonata_units::NodeId;
    use std::sync::{Arc, Mutex};

    /// Logs its notifications.
    struct Diary(Subscription, char, Arc<Mutex<String>>);

    impl State for Diary {
        fn save(&self, _: &mut Writer) {}

        fn load(&mut self, _: &mut Reader<'_>) -> Result<(), DecodeError> {
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
        fn next_created_ps(&mut self, _: u32) -> Option<u64> {
            None
        }

        fn take(&mut self, _: u32, _: u64) -> OutgoingPacket {
            unreachable!("it offers nothing")
        }

        fn subscription(&self, _: u32) -> Subscription {
            self.0
        }

        fn on_departure(&mut self, _: u32, _: &Departure, _: &mut Socket) -> Offer {
            self.write('l')
        }

        fn on_arrival(&mut self, _: u32, _: &Arrival, _: &mut Socket) -> Offer {
            self.write('a')
        }

        fn has_work(&self, _: u64) -> bool {
            false
        }
    }

    /// Each kind gets the events of its jobs, if its subscription includes them.
    #[test]
    fn endpoints_get_the_events_of_their_subscription() {
        let diary = Arc::new(Mutex::new(String::new()));
        let kinds = [(Subscription::Nothing, 'n'), (Subscription::Arrivals, 'a'), (Subscription::Departures, 'd')];
        let members = kinds.into_iter().zip(0..).map(|((subscriptions, name), job)| {
            let endpoints = Box::new(Diary(subscriptions, name, Arc::clone(&diary)));
            Member { endpoints, jobs: vec![job], class: Some(0) }
        });
        let mut mixed = MixedEndpoints::new(members.collect(), 1, 1);
        assert_eq!(mixed.subscription(0), Subscription::Departures);
        let mut socket = Socket::new(7, None);
        let mut changed = Vec::new();
        for job in 0..3 {
            let arrival = Arrival {
                at_ps: 7,
                source: NodeId(0),
                size: 1,
                job,
                message: 0,
                envelope: None,
                injection_times: None,
            };
            changed
                .push(mixed.on_departure(0, &Departure { at_ps: 7, job, message: 0 }, &mut socket) == Offer::Changed);
            changed.push(mixed.on_arrival(0, &arrival, &mut socket) == Offer::Changed);
        }
        assert_eq!(diary.lock().unwrap().as_str(), "aa dl da ");
        assert_eq!(changed, [false, false, false, true, true, true]);
    }
}
