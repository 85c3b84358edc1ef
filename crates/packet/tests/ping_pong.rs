//! A program as an endpoint: two nodes send a message back and forth.
//! The message has an envelope in its first packet, with its length. A player that has the whole message sends it
//! back at once. On an idle machine one throw takes the latency of a head (cables and pipelines) and the time of all
//! bytes on one link.

use odonata_checkpoint::state;
use odonata_machine::topology::{Dragonfly, LinkFigures};
use odonata_packet::Activity::Waiting;
use odonata_packet::{
    Arrival, Ending, Endpoints, Envelope, Nics, Offer, OutgoingPacket, PacketEngine, PacketSettings, Program,
    RunOptions, Schedule, Socket, Subscription, Traffic, UnfinishedEndpoint,
};
use odonata_units::{NodeId, Time};
use std::sync::{Arc, Mutex};

/// The game, and the times at which the first player got the message.
struct PingPong {
    players: [NodeId; 2],
    bytes: u64,
    throws: u32,
    caught_ps: Arc<Mutex<Vec<u64>>>,
}

/// Players among the nodes of one part of the machine.
struct Players {
    game: Vec<Player>,
    packet: u32,
}

struct Player {
    rank: u32,
    nic: u32,
    node: NodeId,
    other: NodeId,
    bytes: u64,
    /// Throws left for this player.
    throws: u32,
    /// Bytes of the message that this player must send, and the time since it has them.
    to_send: u64,
    since_ps: u64,
    /// Bytes of the incoming message that are missing, once its envelope has arrived.
    missing: Option<u64>,
    caught_ps: Arc<Mutex<Vec<u64>>>,
}

// State of a player; a resumed run rebuilds the rest.
state!(Player { value: throws, to_send, since_ps, missing; rebuilt: rank, nic, node, other, bytes, caught_ps });
state!(Players { nested: game; rebuilt: packet });

impl Program for PingPong {
    fn endpoints(&self, _: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let player = |rank: usize| {
            let node = self.players[rank];
            Some(Player {
                rank: rank as u32,
                nic: nics.first_of(node)?,
                node,
                other: self.players[1 - rank],
                bytes: self.bytes,
                throws: self.throws,
                to_send: if rank == 0 { self.bytes } else { 0 },
                since_ps: 0,
                missing: None,
                caught_ps: Arc::clone(&self.caught_ps),
            })
        };
        Box::new(Players { game: (0..2).filter_map(player).collect(), packet: nics.payload() })
    }
}

impl Players {
    fn at(&mut self, nic: u32) -> Option<&mut Player> {
        self.game.iter_mut().find(|player| player.nic == nic)
    }
}

impl Endpoints for Players {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        let player = self.at(nic)?;
        (player.to_send > 0).then_some(player.since_ps)
    }

    fn take(&mut self, nic: u32, _: u64) -> OutgoingPacket {
        let packet = u64::from(self.packet);
        let player = self.at(nic).expect("only players have packets");
        let (first, size) = (player.to_send == player.bytes, player.to_send.min(packet));
        player.to_send -= size;
        if player.to_send == 0 {
            player.throws -= 1;
        }
        let envelope = first.then(|| Envelope {
            bytes: player.bytes,
            source: player.rank,
            destination: 1 - player.rank,
            ..Envelope::default()
        });
        OutgoingPacket { envelope, ..OutgoingPacket::new(player.since_ps, player.other, size as u32) }
    }

    fn subscription(&self, _: u32) -> Subscription {
        Subscription::Arrivals
    }

    fn on_arrival(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        let player = self.at(nic).expect("nobody else gets packets");
        // With one path between two nodes, packets arrive in order.
        let missing = arrival.envelope.map(|envelope| envelope.bytes).or(player.missing).expect("an envelope came");
        player.missing = Some(missing - u64::from(arrival.size));
        if player.missing != Some(0) {
            return Offer::Same;
        }
        (player.missing, player.since_ps) = (None, socket.now_ps());
        if player.rank == 0 {
            player.caught_ps.lock().expect("nobody panicked").push(socket.now_ps());
        }
        if player.throws > 0 {
            player.to_send = player.bytes;
        }
        Offer::Changed
    }

    fn has_work(&self, _: u64) -> bool {
        self.game.iter().any(|player| player.throws > 0)
    }

    fn on_end(&mut self, _: u64) -> Vec<UnfinishedEndpoint> {
        let waiting = self.game.iter().filter(|player| player.throws > 0);
        let state = |player: &Player| UnfinishedEndpoint {
            job: 0,
            rank: Some(player.rank),
            node: player.node,
            activity: Waiting { since: Time(player.since_ps), peer: Some(1 - player.rank), what: "the message".into() },
        };
        waiting.map(state).collect()
    }
}

#[test]
fn a_message_bounces_at_the_computed_times() {
    let figures = |ns: u64| LinkFigures::new(25_000_000_000, ns);
    let machine = Dragonfly { terminal: figures(10), local: figures(30), global: figures(300), ..Dragonfly::default() };
    let machine = machine.builder().and_then(|builder| builder.build()).expect("the study's machine builds");
    let settings = PacketSettings::study();
    let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).expect("min fits");
    let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(10_000), drain: Time::ZERO };

    for (other, bytes) in [(1, 8), (7, 8), (1055, 8), (1055, 512), (1055, 4_000), (7, 60_000)] {
        let caught = Arc::new(Mutex::new(Vec::new()));
        let players = [NodeId(0), NodeId(other)];
        let game = PingPong { players, bytes, throws: 3, caught_ps: Arc::clone(&caught) };
        let result = engine.run(&Traffic::program(Arc::new(game)), schedule, &RunOptions::default(), &mut |_| true);
        assert_eq!(result.ending, Ending::Complete, "{:?}", result.unfinished);

        // Latency of the head: 20 ns into the first router, 20 ns out of the last, and the cable plus 20 ns per hop.
        let hops = result.jobs[0].hops / result.jobs[0].packets;
        let group = |node: u32| machine.group_of(machine.router_of(NodeId(node)));
        let global = u64::from(group(0) != group(other));
        let latency = 20_000 + (hops - global) * 50_000 + global * 320_000 + 20_000;
        // 25 GB/s are 40 ps per byte.
        let round_trip = 2 * (latency + 40 * bytes);
        let caught = caught.lock().expect("nobody panicked");
        assert_eq!(*caught, [round_trip, 2 * round_trip, 3 * round_trip]);
    }
}
