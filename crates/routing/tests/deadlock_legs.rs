//! The deadlock check of legs against a plain graph: every edge, and a search that removes channels without
//! successors.

use odonata_machine::topology::{Cascade, Dragonfly};
use odonata_machine::{Machine, MachineBuilder};
use odonata_routing::algorithm::{Discipline, Goal, Leg};
use odonata_routing::deadlock;
use odonata_routing::next_hop::{NextHops, Port, VcOrder};
use odonata_units::{GroupId, RouterId, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// Source and target router and port of a link, and a virtual channel.
type Channel = (u32, u32, Port, u8);

/// The channels of a leg's hops at router `r`, each with its goal.
fn hops_at(hops: &NextHops, leg: &Leg, r: RouterId) -> Vec<(Channel, u32)> {
    let own = hops.group_of(r);
    let towards = |ports: &[Port], vc: u8, goal: u32| -> Vec<(Channel, u32)> {
        ports.iter().map(|&port| ((r.0, hops.neighbour(r, port).0, port, vc), goal)).collect()
    };
    let groups = (0..hops.groups()).map(GroupId).filter(|&g| g != own);
    match leg.goal {
        Goal::Group => groups
            .flat_map(|g| towards(hops.ports_to_group(r, g), leg.vc + hops.vc_offset_to_group(r, g), g.0))
            .collect(),
        Goal::HopTowardsGroup => groups.flat_map(|g| towards(hops.ports_to_group(r, g), leg.vc, g.0)).collect(),
        Goal::OtherGroup => {
            let out = |&port: &Port| hops.group_of(hops.neighbour(r, port)) != own;
            hops.ports(r).filter(out).flat_map(|port| towards(&[port], leg.vc, 0)).collect()
        }
        Goal::Router => {
            let others = hops.members(own).iter().map(|&to| RouterId(to)).filter(|&to| to != r);
            others.flat_map(|to| towards(hops.local_ports(r, to), leg.vc + hops.local_vc_offset(r, to), to.0)).collect()
        }
    }
}

/// Every edge from a channel to one that may be requested next.
fn edges(hops: &NextHops, legs: &[Leg]) -> BTreeMap<Channel, BTreeSet<Channel>> {
    let mut edges: BTreeMap<Channel, BTreeSet<Channel>> = BTreeMap::new();
    for leg in legs {
        for r in (0..hops.routers()).map(RouterId) {
            for (channel, goal) in hops_at(hops, leg, r) {
                let at = RouterId(channel.1);
                let reached = match leg.goal {
                    Goal::Group => hops.group_of(at).0 == goal,
                    Goal::Router => at.0 == goal,
                    Goal::HopTowardsGroup | Goal::OtherGroup => true,
                };
                let next: Vec<Channel> = if reached {
                    let legs = leg.next.iter().flat_map(|&next| hops_at(hops, &legs[next], at));
                    legs.map(|(channel, _)| channel).collect()
                } else {
                    let same_goal = hops_at(hops, leg, at).into_iter().filter(|&(_, other)| other == goal);
                    same_goal.map(|(channel, _)| channel).collect()
                };
                edges.entry(channel).or_default().extend(next);
            }
        }
    }
    edges
}

/// Removes channels that wait for no remaining one, until none is left to remove. Returns whether some remain.
fn has_cycle(edges: &BTreeMap<Channel, BTreeSet<Channel>>) -> bool {
    let mut waits: BTreeMap<Channel, usize> = edges.iter().map(|(&channel, next)| (channel, next.len())).collect();
    let mut waited_for: BTreeMap<Channel, Vec<Channel>> = BTreeMap::new();
    for (&channel, next) in edges {
        next.iter().for_each(|&next| waited_for.entry(next).or_default().push(channel));
    }
    let mut free: Vec<Channel> =
        waited_for.keys().chain(edges.keys()).filter(|&c| waits.get(c).is_none_or(|&n| n == 0)).copied().collect();
    free.sort_unstable();
    free.dedup();
    let mut left: usize = waits.values().filter(|&&n| n > 0).count();
    while let Some(channel) = free.pop() {
        for &other in waited_for.get(&channel).into_iter().flatten() {
            let count = waits.get_mut(&other).unwrap();
            *count -= 1;
            if *count == 0 {
                left -= 1;
                free.push(other);
            }
        }
    }
    left > 0
}

fn thinned(mut builder: MachineBuilder, random: &mut Stream, share: f64) -> Option<(Machine, NextHops)> {
    builder.cables.retain(|_| !random.chance(share));
    let machine = builder.build().ok()?;
    let hops = NextHops::new(&machine).ok()?;
    Some((machine, hops))
}

fn legs(random: &mut Stream) -> Vec<Leg> {
    let count = 1 + random.below(4) as usize;
    let goals = [Goal::Group, Goal::Router, Goal::HopTowardsGroup, Goal::OtherGroup];
    (0..count)
        .map(|i| Leg {
            goal: goals[random.below(4) as usize],
            vc: random.below(3) as u8,
            is_first: true,
            // Mostly onward, so that some cases have no cycle.
            next: (0..count).filter(|&next| random.chance(if next > i { 0.6 } else { 0.05 })).collect(),
        })
        .collect()
}

#[test]
fn random_legs_have_a_cycle_where_the_plain_graph_has_one() {
    let mut random = Stream::new(7, "legs", &[]);
    let mut found = [0; 2];
    for case in 0..600 {
        let builder = if case % 2 == 0 {
            Dragonfly { p: 1, a: 3, h: 2, g: 5, ..Dragonfly::default() }.builder().unwrap()
        } else {
            Cascade { groups: 3, rows: 2, columns: 3, ..Cascade::default() }.builder().unwrap()
        };
        let share = [0.0, 0.1, 0.3][random.below(3) as usize];
        let Some((_, mut hops)) = thinned(builder, &mut random, share) else { continue };
        hops.set_vc_order([VcOrder::PerLeg, VcOrder::PerGroup, VcOrder::PerTurn][random.below(3) as usize]);
        let legs = legs(&mut random);
        let channels = 3 + hops.channels_to_group().max(hops.local_channels());
        let edges = edges(&hops, &legs);
        let expected = has_cycle(&edges);
        let result = deadlock::check(&hops, &Discipline::Legs(legs.clone()), channels, u8::MAX, None);
        assert_eq!(result.is_err(), expected, "case {case}: {legs:?}");
        found[usize::from(expected)] += 1;
        let Err(cycle) = result else { continue };
        // A reported cycle is a real one: a cable between these routers leads on to a cable between the next ones.
        for (i, &from) in cycle.channels.iter().enumerate() {
            let to = cycle.channels[(i + 1) % cycle.channels.len()];
            let is = |c: &Channel, said: (RouterId, RouterId, u8)| (RouterId(c.0), RouterId(c.1), c.3) == said;
            let mut paths = edges.iter().filter(|(c, _)| is(c, from)).flat_map(|(_, next)| next);
            assert!(paths.any(|c| is(c, to)), "case {case}: {cycle}");
        }
    }
    assert!(found.iter().all(|&count| count > 100), "without and with a cycle: {found:?}");
}
