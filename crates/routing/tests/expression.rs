//! The quantities of a condition, by hand, and the errors of its text.

use odonata_machine::topology::Torus;
use odonata_machine::{presets, Machine};
use odonata_routing::algorithm::{
    Decision, ExpressionSettings, Header, Intermediate, Memory, RouteState, RoutingChoice, QUANTITIES,
};
use odonata_routing::next_hop::NextHops;
use odonata_routing::view::LoadView;
use odonata_units::{GroupId, NodeId, RouterId, Stream};
use std::sync::Arc;

fn machine(preset: &str) -> Machine {
    presets::builder(preset).unwrap().build().unwrap()
}

fn settings(text: &str) -> ExpressionSettings {
    ExpressionSettings { non_minimal_when: text.into(), ..Default::default() }
}

fn error(hops: &Arc<NextHops>, settings: ExpressionSettings) -> String {
    let built = RoutingChoice::with("expression", settings).unwrap().build(Arc::clone(hops));
    built.err().expect("a mistake").to_string()
}

/// 512 bytes and 7 waiting at one port, 255 and 3 at all others.
struct Queues(u16);

impl LoadView for Queues {
    fn packet_bytes(&self) -> u64 {
        1024
    }

    fn port_bytes(&self, port: u16) -> u64 {
        if port == self.0 {
            512
        } else {
            255
        }
    }

    fn channel_bytes(&self, port: u16, _: u8) -> u64 {
        self.port_bytes(port)
    }

    fn waiting_bytes(&self, port: u16) -> u64 {
        if port == self.0 {
            7
        } else {
            3
        }
    }

    fn has_room(&self, _: u16, _: u8) -> bool {
        true
    }
}

/// Node 0 of router 0 (group 0) to node 171 of group 5 at 40 ns. Router 0 has 4 of the 32 global cables of its group
/// (groups 1 to 4), so the path to group 5 has a local, a global and perhaps a local hop.
#[test]
fn every_quantity_has_its_value() {
    let hops = Arc::new(NextHops::new(&machine("dragonfly-1056")).unwrap());
    let (source, destination) = (NodeId(0), NodeId(171));
    let to = hops.router_of(destination);
    let port = hops.ports_to_group(RouterId(0), GroupId(5))[0];
    let gateway = hops.neighbour(RouterId(0), port);
    let entry = hops.neighbour(gateway, hops.ports_to_group(gateway, GroupId(5))[0]);
    assert_eq!((hops.group_of(to), hops.group_of(entry)), (GroupId(5), GroupId(5)));
    let minimal_hops = 2 + u32::from(entry != to);
    let takes = |text: &str| {
        let routing = RoutingChoice::with("expression", settings(text)).unwrap().build(Arc::clone(&hops)).unwrap();
        let mut random = Stream::new(4, "test", &[]);
        // Detours that leave by the minimal port compare other queues; a draw without them is found soon.
        loop {
            let mut packet = Header { source, destination, state: RouteState::default() };
            let (load, mut memory) = (Queues(port), Memory::default());
            let mut fork = random.clone();
            let always = settings("1 > 0");
            let always = RoutingChoice::with("expression", always).unwrap().build(Arc::clone(&hops)).unwrap();
            let mut probe = packet;
            let hop = always.decide(&mut Decision::new(RouterId(0), &load, &mut fork, &mut memory), &mut probe);
            if hop.port == port {
                random = fork;
                continue;
            }
            let mut decision =
                Decision { now_ps: 40_000, ..Decision::new(RouterId(0), &load, &mut random, &mut memory) };
            routing.decide(&mut decision, &mut packet);
            return packet.state.path_kind.is_non_minimal();
        }
    };
    let values = [
        ("minimal_queue", "512 B".to_owned()),
        ("non_minimal_queue", "255 B".into()),
        ("minimal_waiting", "7 B".into()),
        ("non_minimal_waiting", "3 B".into()),
        ("minimal_hops", minimal_hops.to_string()),
        ("packet_bytes", "1 KiB".into()),
        ("hops", "0".into()),
        ("router", "0".into()),
        ("source", "0".into()),
        ("destination", "171".into()),
        ("now", "40 ns".into()),
    ];
    for (name, value) in &values {
        assert!(takes(&format!("{name} == {value}")), "{name} is {value}");
        assert!(!takes(&format!("{name} != {value}")), "{name} is {value}");
    }
    // From 2 + 1 hops over the intermediate router itself to 6.
    assert!(takes("non_minimal_hops >= 3 and non_minimal_hops <= 6"));
    assert!(takes("random >= 0 and random < 1000000"));
    assert_eq!(values.len() + 2, QUANTITIES.len());
    // Saturation: the largest number is larger than any queue.
    assert!(takes("minimal_queue / (non_minimal_queue - 255 B) > 1000000"));
}

#[test]
fn mistakes_have_a_column_and_the_nearest_name() {
    let hops = Arc::new(NextHops::new(&machine("dragonfly-1056")).unwrap());
    for (text, message) in [
        (
            "minimal_queu > 4 KiB",
            "routing.non_minimal_when: column 1: unknown name 'minimal_queu'; did you mean 'minimal_queue'?",
        ),
        (
            "minimal_queue > 4",
            "routing.non_minimal_when: column 17: an amount of data like 64 KiB and a number cannot be combined",
        ),
        ("2 * minimal_hops", "routing.non_minimal_when: column 1: expected a comparison like a > b, found a number"),
        (
            "minimal_hops >",
            "routing.non_minimal_when: column 15: expected a number or a name, found the end of the line",
        ),
        (
            "hops > 1 and\nrouter == destinaton",
            "routing.non_minimal_when: line 2, column 11: unknown name 'destinaton'; did you mean 'destination'?",
        ),
        ("hops > 1 hops", "routing.non_minimal_when: column 10: expected the end of the line, found 'hops'"),
        ("hops > 1 ? 2", "routing.non_minimal_when: column 10: unexpected character '?'"),
        ("max(hops 2) > 1", "routing.non_minimal_when: column 10: expected ',', found '2'"),
    ] {
        assert_eq!(error(&hops, settings(text)), message);
    }
}

#[test]
fn parameters_that_do_not_fit_the_machine_are_refused() {
    let groups = Arc::new(NextHops::new(&machine("dragonfly-1056")).unwrap());
    let both = ExpressionSettings { second_decision: true, intermediate: Intermediate::Group, ..Default::default() };
    assert!(error(&groups, both).contains("a second decision weighs routers; expected \"router\""));
    let torus = Arc::new(NextHops::new(&Torus::default().builder().unwrap().build().unwrap()).unwrap());
    let twice = ExpressionSettings { second_decision: true, ..Default::default() };
    assert!(error(&torus, twice).contains("the machine has no groups, so packets decide once"));
    let group = ExpressionSettings { intermediate: Intermediate::Group, ..Default::default() };
    assert!(error(&torus, group).contains("the machine has no groups; expected \"router\""));
}
