//! Random programs: what a node sends depends on all its notifications.

use odonata_checkpoint::state;
use odonata_packet::{
    Arrival, Departure, Endpoints, Envelope, Nics, Offer, OutgoingPacket, Program, Socket, Subscription,
    UnfinishedEndpoint,
};
use odonata_units::{NodeId, Stream};
use std::sync::{Arc, Mutex};

/// A call of a node.
#[derive(Clone, PartialEq, Debug)]
pub enum Call {
    Take(u32, u64, OutgoingPacket),
    Left(u32, Departure),
    Arrived(u32, Arrival),
    Woken(u32, u64),
}

impl Call {
    /// Time of the call, or departure of the packet.
    pub fn at_ps(&self) -> u64 {
        match self {
            Self::Take(_, at, _) | Self::Woken(_, at) => *at,
            Self::Left(_, departure) => departure.at_ps,
            Self::Arrived(_, arrival) => arrival.at_ps,
        }
    }
}

/// Behavior of the nodes of a case.
#[derive(Clone, Debug)]
pub struct Behavior {
    pub seed: u64,
    /// Nodes that send.
    pub nodes: Vec<NodeId>,
    /// Maximum packets of a node at the start, and in total.
    pub first: u64,
    pub most: u32,
    /// Creation times are spread over this time, delays over a tenth of it.
    pub spread_ps: u64,
    /// Probability of a packet that is not full.
    pub small: f64,
    /// Probability of an answer to a notification.
    pub answers: f64,
}

/// A program with random nodes, which logs the calls of each node.
pub struct Chatter {
    pub behavior: Behavior,
    calls: Arc<Vec<Mutex<Vec<Call>>>>,
}

impl Chatter {
    pub fn new(behavior: Behavior) -> Self {
        let last = behavior.nodes.iter().map(|node| node.index()).max().unwrap();
        let calls = Arc::new((0..=last).map(|_| Mutex::default()).collect());
        Self { behavior, calls }
    }

    /// Calls of every node.
    pub fn calls(&self) -> Vec<Vec<Call>> {
        self.calls.iter().map(|calls| calls.lock().unwrap().clone()).collect()
    }
}

impl Program for Chatter {
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let per_node = nics.per_node();
        let nodes = (0..nics.count()).step_by(per_node as usize);
        let talker = |nic| Talker::new(&self.behavior, nics.node(nic), jobs, (per_node, nics.payload()));
        let calls = Arc::clone(&self.calls);
        Box::new(Talkers { talkers: nodes.map(talker).collect(), per_node, calls })
    }
}

struct Talkers {
    talkers: Vec<Talker>,
    per_node: u32,
    calls: Arc<Vec<Mutex<Vec<Call>>>>,
}

struct Talker {
    behavior: Behavior,
    node: NodeId,
    /// Jobs of its packets, in turn.
    jobs: Vec<u16>,
    nics: u32,
    packet: u32,
    random: Stream,
    subscription: Subscription,
    /// Offered packets, each at one NIC.
    offers: Vec<(u32, OutgoingPacket)>,
    made: u32,
}

state!(Talkers { nested: talkers; rebuilt: per_node, calls });
state!(Talker {
    value: random, offers, made;
    rebuilt: behavior, node, jobs, nics, packet, subscription
});

impl Talker {
    fn new(behavior: &Behavior, node: NodeId, jobs: &[u16], (nics, packet): (u32, u32)) -> Self {
        let mut random = Stream::new(behavior.seed, "talker", &[u64::from(node.0)]);
        let subscription = match random.below(4) {
            0 => Subscription::Nothing,
            1 => Subscription::Departures,
            _ => Subscription::Arrivals,
        };
        let behavior = behavior.clone();
        let first = 1 + random.below(behavior.first);
        let spread = behavior.spread_ps;
        let talks = behavior.nodes.contains(&node);
        let jobs = jobs.to_vec();
        let mut talker = Self { behavior, node, jobs, nics, packet, random, subscription, offers: Vec::new(), made: 0 };
        for _ in 0..if talks { first } else { 0 } {
            let created = talker.random.below(spread);
            talker.make(created);
        }
        talker
    }

    /// Creates a packet, unless the limit is reached.
    fn make(&mut self, created_ps: u64) {
        if self.made == self.behavior.most {
            return;
        }
        self.made += 1;
        let random = &mut self.random;
        let others: Vec<NodeId> = self.behavior.nodes.iter().copied().filter(|&node| node != self.node).collect();
        let destination = others[random.index(others.len())];
        let small = random.chance(self.behavior.small);
        let size = if small { 1 + random.below(u64::from(self.packet)) as u32 } else { self.packet };
        let envelope = random.chance(0.4).then(|| Envelope {
            bytes: random.next_u64(),
            tag: self.made,
            communicator: 7,
            order: 3,
            sequence: random.below(100) as u32,
            source: self.node.0,
            destination: destination.0,
            kind: random.below(256) as u8,
        });
        let packet = OutgoingPacket {
            nic: random.below(u64::from(self.nics)) as u8,
            job: self.jobs[self.made as usize % self.jobs.len()],
            message: random.below(1 << 32) as u32,
            envelope,
            notifies_departure: random.chance(0.5),
            ..OutgoingPacket::new(created_ps, destination, size)
        };
        self.offers.push((random.below(u64::from(self.nics)) as u32, packet));
    }

    /// Reacts to a notification.
    fn react(&mut self, socket: &mut Socket) -> Offer {
        let now = socket.now_ps();
        let delay = self.behavior.spread_ps / 10 + 1;
        let mut offer = Offer::Same;
        match self.random.below(8) {
            // Changes the timer: later, sooner, now, never.
            0 => socket.wake_at(now + self.random.below(delay)),
            1 => socket.wake_at(now + 10 * self.random.below(delay)),
            2 if self.made < self.behavior.most => socket.wake_at(now),
            3 => socket.stop_timer(),
            // Withdraws or delays an offer, or moves it to another NIC.
            4 if !self.offers.is_empty() => {
                let i = self.random.index(self.offers.len());
                self.offers.swap_remove(i);
                offer = Offer::Changed;
            }
            5 if !self.offers.is_empty() => {
                let i = self.random.index(self.offers.len());
                self.offers[i].0 = self.random.below(u64::from(self.nics)) as u32;
                self.offers[i].1.created_ps = now + self.random.below(delay);
                offer = Offer::Changed;
            }
            _ => {}
        }
        if self.made < self.behavior.most && self.random.chance(0.2) {
            self.made += 1;
            let after = [0, self.random.below(delay)][self.random.index(2)];
            let message = self.random.below(1 << 20) as u32;
            let (source, job) = (self.node, self.jobs[0]);
            let envelope = Some(Envelope { tag: message, ..Envelope::default() });
            socket.deliver(Arrival {
                at_ps: now + after,
                source,
                size: 1,
                job,
                message,
                envelope,
                injection_times: None,
            });
        }
        while self.random.chance(self.behavior.answers) && self.made < self.behavior.most {
            // Some were created before now, as by a rank that ran ahead.
            let created = (now + self.random.below(delay)).saturating_sub(delay / 2);
            self.make(created);
            offer = Offer::Changed;
        }
        offer
    }
}

impl Talkers {
    fn note(&self, nic: u32, call: Call) {
        let node = self.talkers[(nic / self.per_node) as usize].node;
        self.calls[node.index()].lock().unwrap().push(call);
    }

    fn at(&mut self, nic: u32) -> (&mut Talker, u32) {
        (&mut self.talkers[(nic / self.per_node) as usize], nic % self.per_node)
    }
}

impl Endpoints for Talkers {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        let (talker, place) = self.at(nic);
        talker.offers.iter().filter(|offer| offer.0 == place).map(|offer| offer.1.created_ps).min()
    }

    /// Any created packet.
    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        let (talker, place) = self.at(nic);
        let made = |offer: &(u32, OutgoingPacket)| offer.0 == place && offer.1.created_ps <= leaves_ps;
        let made: Vec<usize> = (0..talker.offers.len()).filter(|&i| made(&talker.offers[i])).collect();
        let i = made[talker.random.index(made.len())];
        let packet = talker.offers.remove(i).1;
        self.note(nic, Call::Take(place, leaves_ps, packet));
        packet
    }

    fn subscription(&self, nic: u32) -> Subscription {
        self.talkers[(nic / self.per_node) as usize].subscription
    }

    fn on_start(&mut self, nic: u32, socket: &mut Socket) {
        let (talker, _) = self.at(nic);
        if talker.behavior.nodes.contains(&talker.node) {
            let _ = talker.react(socket);
        }
    }

    fn on_departure(&mut self, nic: u32, departure: &Departure, socket: &mut Socket) -> Offer {
        self.note(nic, Call::Left(nic % self.per_node, *departure));
        self.at(nic).0.react(socket)
    }

    fn on_arrival(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        self.note(nic, Call::Arrived(nic % self.per_node, *arrival));
        self.at(nic).0.react(socket)
    }

    fn on_timer(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        self.note(nic, Call::Woken(nic % self.per_node, socket.now_ps()));
        self.at(nic).0.react(socket)
    }

    fn has_work(&self, _: u64) -> bool {
        self.talkers.iter().any(|talker| !talker.offers.is_empty())
    }

    fn on_end(&mut self, _: u64) -> Vec<UnfinishedEndpoint> {
        Vec::new()
    }
}
