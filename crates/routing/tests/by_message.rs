//! Routes by message: by size, line and flexibility; the rules of PAMI as in its sources.

use odonata_machine::presets;
use odonata_routing::algorithm::{
    Decision, DynamicSettings, Header, Memory, MessageRoute, Route, RouteState, Routing, RoutingChoice, Rule, Zone,
};
use odonata_routing::next_hop::NextHops;
use odonata_routing::view::LoadView;
use odonata_units::{Bytes, NodeId, RouterId, Stream};
use std::sync::Arc;

/// Room in every channel.
struct Free;

impl LoadView for Free {
    fn port_bytes(&self, _: u16) -> u64 {
        0
    }
    fn channel_bytes(&self, _: u16, _: u8) -> u64 {
        0
    }
    fn has_room(&self, _: u16, _: u8) -> bool {
        true
    }
    fn tokens(&self, _: u16, _: u8) -> Option<u64> {
        Some(1_024)
    }
}

fn hops(preset: &str) -> Arc<NextHops> {
    let machine = presets::builder(preset).unwrap().build().unwrap();
    Arc::new("torus-dynamic".parse::<RoutingChoice>().unwrap().next_hops(&machine).unwrap())
}

fn routing(hops: &Arc<NextHops>, route: Route) -> Result<Box<dyn Routing>, String> {
    let dynamic = DynamicSettings { route, ..DynamicSettings::default() };
    let choice = RoutingChoice::with("torus-dynamic", dynamic).unwrap();
    choice.build(Arc::clone(hops)).map_err(|error| error.to_string())
}

/// The dimensions of a packet's path, one letter per hop, and whether all hops use the bubble channel.
fn path(routing: &dyn Routing, hops: &NextHops, to: u32, bytes: u64, seed: u64) -> (String, bool) {
    let (from, to) = (NodeId(0), NodeId(to));
    let state = routing.initial_state(from, to, bytes);
    let mut header = Header { source: from, destination: to, state };
    let mut random = Stream::new(seed, "way", &[]);
    let letters = hops.axis_letters();
    let (mut at, mut name, mut bubble) = (hops.router_of(from), String::new(), true);
    let mut memory = Memory::default();
    while at != hops.router_of(to) {
        let mut decision = Decision::new(at, &Free, &mut random, &mut memory);
        let hop = routing.decide(&mut decision, &mut header);
        let next = hops.neighbour(at, hop.port);
        name.push_str(&letters[dimension(hops, at, next)]);
        bubble &= hop.vc == 0;
        (header.state.vc, header.state.hops) = (hop.vc, header.state.hops + 1);
        at = next;
    }
    (name, bubble)
}

fn dimension(hops: &NextHops, from: RouterId, to: RouterId) -> usize {
    let compass = odonata_routing::hints::Compass::of(hops.shape()).unwrap();
    let (a, b) = (compass.coordinates(from).to_vec(), compass.coordinates(to).to_vec());
    (0..a.len()).find(|&d| a[d] != b[d]).unwrap()
}

/// The node at these coordinates of a torus, the last one running fastest.
fn node(dims: &[u32], at: &[u32]) -> u32 {
    dims.iter().zip(at).fold(0, |node, (n, x)| node * n + x)
}

/// Paths of many packets: the number of different orders of dimensions, and whether all, or none, use the bubble
/// channel.
fn paths(routing: &dyn Routing, hops: &NextHops, to: u32, bytes: u64) -> (usize, Option<bool>) {
    let all: Vec<(String, bool)> = (0..200).map(|seed| path(routing, hops, to, bytes, seed)).collect();
    let mut orders: Vec<&String> = all.iter().map(|(name, _)| name).collect();
    orders.sort_unstable();
    orders.dedup();
    let same = all.iter().all(|(_, bubble)| *bubble == all[0].1);
    (orders.len(), same.then_some(all[0].1))
}

/// Midplane of 4 x 4 x 4 x 4 x 2. Up to 64 KiB and along a line there is one path, in the bubble channel. Above,
/// messages use zone 3 at any flexibility: A to D in order, and E at any time.
#[test]
fn pami_on_a_midplane() {
    let hops = hops("bgq-midplane");
    let dims = [4, 4, 4, 4, 2];
    let routing = routing(&hops, Route::Pami).unwrap();
    let far = node(&dims, &[2, 2, 2, 2, 1]);
    assert_eq!(paths(&*routing, &hops, far, 65_536), (1, Some(true)));
    let names: Vec<String> = (0..200).map(|seed| path(&*routing, &hops, far, 65_537, seed).0).collect();
    assert!(names.iter().all(|name| name.replace('E', "") == "AABBCCDD"), "{names:?}");
    let (orders, bubble) = paths(&*routing, &hops, far, 65_537);
    // E is equally likely before the first dimension, after it, and so on.
    assert!((5..=9).contains(&orders) && bubble == Some(false), "{orders} orders, {bubble:?}");
    assert_eq!(paths(&*routing, &hops, node(&dims, &[1, 1, 0, 0, 0]), 1 << 20), (1, Some(false)));
    assert_eq!(paths(&*routing, &hops, node(&dims, &[0, 0, 2, 0, 0]), 1 << 20), (1, Some(true)), "on a line");
}

/// Mira (8 x 12 x 16 x 16 x 2, 48 racks): zone 3 for 1.3 <= flexibility <= 3.0, else zone 0, in which C and D are
/// free among each other. Half of each ring A to D is a flexibility of 2.0, a quarter 1.0; E does not count.
#[test]
fn pami_on_mira_uses_flexibility() {
    let hops = hops("mira");
    let dims = [8, 12, 16, 16, 2];
    let routing = routing(&hops, Route::Pami).unwrap();
    let first_changes = |to: u32| {
        let names: Vec<String> = (0..60).map(|seed| path(&*routing, &hops, to, 1 << 20, seed).0).collect();
        names.iter().any(|name| name.starts_with('D')) && names.iter().any(|name| name.starts_with('C'))
    };
    assert!(first_changes(node(&dims, &[2, 3, 4, 4, 1])), "zone 0: C and D together");
    assert!(!first_changes(node(&dims, &[4, 6, 8, 8, 0])), "zone 3: C before D");
    // 1.25 with A to D; it would be 1.75 with E.
    assert!(first_changes(node(&dims, &[2, 3, 6, 6, 1])));
}

#[test]
fn the_first_matching_rule_applies_else_the_zone() {
    let hops = hops("bgq-midplane");
    let rule =
        Rule { up_to: None, line: false, flexibility: None, route: MessageRoute::Deterministic, otherwise: None };
    let small = Rule { up_to: Some(Bytes(1_000)), route: MessageRoute::Dynamic(Zone::Numbered(2)), ..rule.clone() };
    let large = Rule { flexibility: Some([0.0, 1.0]), ..rule.clone() };
    let routing = routing(&hops, Route::Rules(vec![small, large])).unwrap();
    let dims = [4, 4, 4, 4, 2];
    let (near, far) = (node(&dims, &[1, 1, 1, 0, 1]), node(&dims, &[2, 2, 2, 0, 1]));
    assert_eq!(paths(&*routing, &hops, near, 1_000), (1, Some(false)), "zone 2 is an order, in dynamic channels");
    assert_eq!(paths(&*routing, &hops, near, 1_001), (1, Some(true)));
    let (orders, bubble) = paths(&*routing, &hops, far, 1_001);
    assert!(orders > 20 && bubble == Some(false), "zone 1 is free: {orders} orders");
}

#[test]
fn without_rules_messages_are_alike() {
    let hops = hops("bgq-midplane");
    let routing = routing(&hops, Route::Zone).unwrap();
    assert_eq!(routing.initial_state(NodeId(0), NodeId(9), 1), RouteState::default());
}

#[test]
fn invalid_rules_are_refused() {
    let hops = hops("bgq-midplane");
    let rule =
        Rule { up_to: None, line: false, flexibility: None, route: MessageRoute::Deterministic, otherwise: None };
    let refused = |rule: Rule| routing(&hops, Route::Rules(vec![rule])).err().unwrap();
    let backwards = refused(Rule { flexibility: Some([3.5, 1.5]), ..rule.clone() });
    assert!(backwards.contains("rule 1: expected flexibility = [from, to]"), "{backwards}");
    let aimless = refused(Rule { otherwise: Some(MessageRoute::Deterministic), ..rule.clone() });
    assert!(aimless.contains("`else` needs `flexibility`"), "{aimless}");
    let lost = refused(Rule { route: MessageRoute::Dynamic(Zone::Masks(vec!["AB".into()])), ..rule });
    assert!(lost.contains("no mask has dimension C"), "{lost}");
}
