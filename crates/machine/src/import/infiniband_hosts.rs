//! The hosts of an InfiniBand network: which adapters belong to one host, and which are no nodes.

use super::infiniband::{data_rate, unknown_speed, Adapter, End, Fabric};
use crate::rails::nic_name;
use crate::MachineBuilder;
use odonata_units::{Rate, RouterId};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Device ids of the aggregation nodes of SHARP, adapters inside switches that reduce messages.
const AGGREGATION_DEVICES: [u32; 2] = [0xcf08, 0xcf09];

/// Their description.
const AGGREGATION_NODE: &str = "Aggregation Node";

/// Part of the descriptions that adapters have before a host gives them its name.
const OF_FIRMWARE: &str = "Mellanox Technologies";

/// Most names in a phrase about hosts.
const SHOWN: usize = 4;

/// A port of an adapter at a switch.
#[derive(Clone, Copy)]
pub(super) struct Nic<'a> {
    pub(super) switch: usize,
    /// Number of the port of the switch.
    pub(super) switch_port: u32,
    pub(super) lid: Option<u32>,
    line: usize,
    guid: &'a str,
    /// Name of the adapter in its host: `HCA-1`, `mlx5_0`.
    adapter: &'a str,
    port: u32,
    speed: &'a str,
    rate: Rate,
}

struct Host<'a> {
    name: String,
    nics: Vec<Nic<'a>>,
}

/// The hosts that are nodes, all with the same number of NICs.
pub(super) struct Hosts<'a> {
    hosts: Vec<Host<'a>>,
    /// What else is at the switches.
    reading: Vec<String>,
}

impl<'a> Hosts<'a> {
    /// Finds the hosts; those called in `service` are no nodes.
    pub(super) fn of(fabric: &Fabric<'a>, service: &[String]) -> Result<Self, (usize, String)> {
        let mut found = Self { hosts: Vec::new(), reading: Vec::new() };
        let (mut aggregation, mut routers) = (0, HashSet::new());
        let mut host_of: HashMap<&str, Vec<Nic<'a>>> = HashMap::new();
        let mut order: Vec<&str> = Vec::new();
        for (i, switch) in fabric.switches.iter().enumerate() {
            for end in switch.ends.iter().filter(|end| !end.peer.starts_with("S-")) {
                let of_block = fabric.adapters.get(end.peer).copied().unwrap_or_default();
                let description = end.description.or(of_block.description).unwrap_or("");
                if end.peer.starts_with("R-") {
                    routers.insert(end.peer);
                } else if is_aggregation_node(description, of_block) {
                    aggregation += 1;
                } else {
                    let (host, nic) = nic(i, end, description)?;
                    host_of.entry(host).or_insert_with(|| {
                        order.push(host);
                        Vec::new()
                    });
                    host_of.get_mut(host).expect("just added").push(nic);
                }
            }
        }
        if aggregation > 0 {
            found.reading.push(format!("not nodes: {}", counted(aggregation, "SHARP aggregation node")));
        }
        if !routers.is_empty() {
            found.reading.push(format!("not nodes: {}", counted(routers.len(), "router to another subnet")));
        }
        for host in order {
            let nics = host_of.remove(host).expect("a host of the file");
            found.add(host, nics);
        }
        found.remove_service(service, fabric.switches.first().map_or(1, |switch| switch.line))?;
        found.keep_most_common();
        Ok(found)
    }

    /// Adds a host, or one for each adapter if several adapters have one name: then hosts have the same name.
    fn add(&mut self, name: &str, mut nics: Vec<Nic<'a>>) {
        let adapters: HashMap<&str, &str> = nics.iter().map(|nic| (nic.guid, nic.adapter)).collect();
        let names: HashSet<&str> = adapters.values().copied().collect();
        // Numbers count adapters of a host, and a longer one is larger.
        nics.sort_by_key(|nic| (nic.adapter.len(), nic.adapter, nic.port, nic.line));
        if adapters.len() == names.len() && name.parse::<u32>().is_err() {
            self.hosts.push(Host { name: name.to_owned(), nics });
            return;
        }
        if adapters.len() > 1 {
            self.reading.push(format!("{} adapters called {name} are nodes of their own", adapters.len()));
        }
        let mut of_adapter: BTreeMap<&str, Vec<Nic<'a>>> = BTreeMap::new();
        nics.into_iter().for_each(|nic| of_adapter.entry(nic.guid).or_default().push(nic));
        self.hosts.extend(of_adapter.into_iter().map(|(guid, nics)| Host { name: guid.to_owned(), nics }));
    }

    fn remove_service(&mut self, service: &[String], line: usize) -> Result<(), (usize, String)> {
        if service.is_empty() {
            return Ok(());
        }
        let known: HashSet<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        if let Some(other) = service.iter().find(|name| !known.contains(name.as_str())) {
            let hint = odonata_declare::hint(other, known);
            return Err((line, format!("'service' names {other}, but no adapter has this host{hint}")));
        }
        let service: HashSet<&String> = service.iter().collect();
        self.hosts.retain(|host| !service.contains(&host.name));
        self.reading.push(format!("not nodes: {}", counted(service.len(), "service host")));
        Ok(())
    }

    /// Keeps the hosts with at least the most common number of NICs, and this number of each.
    fn keep_most_common(&mut self) {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        self.hosts.iter().for_each(|host| *counts.entry(host.nics.len()).or_default() += 1);
        let most = counts.iter().max_by_key(|(&nics, &hosts)| (hosts, std::cmp::Reverse(nics)));
        let Some((&rails, _)) = most else { return };
        let rails = rails.min(crate::rail_settings::RAILS_MAX as usize);
        let few: Vec<&str> = self.names(|host| host.nics.len() < rails);
        let many: Vec<&str> = self.names(|host| host.nics.len() > rails);
        let mut phrases = Vec::new();
        if !few.is_empty() {
            phrases.push(format!("not nodes: hosts with fewer than {rails} adapter ports, {}", listed(&few)));
        }
        if !many.is_empty() {
            phrases.push(format!("further adapter ports are not used, of {}", listed(&many)));
        }
        self.hosts.retain(|host| host.nics.len() >= rails);
        self.hosts.iter_mut().for_each(|host| host.nics.truncate(rails));
        if rails > 1 {
            self.reading.push("rails are the adapter ports of one host".into());
        }
        self.reading.append(&mut phrases);
        let speeds = self.speeds();
        if let [(common, _), others @ ..] = &speeds[..] {
            let others: Vec<String> = others.iter().map(|(speed, count)| format!("{count} with {speed}")).collect();
            if !others.is_empty() {
                let reason = format!("all NICs get {common}, the speed of most, also {}", others.join(", "));
                self.reading.push(reason);
            }
        }
    }

    fn names(&self, matches: impl Fn(&Host<'a>) -> bool) -> Vec<&str> {
        self.hosts.iter().filter(|host| matches(host)).map(|host| host.name.as_str()).collect()
    }

    /// NICs of each speed, the most common first, of equally common ones the fastest.
    fn speeds(&self) -> Vec<(&'a str, usize)> {
        let mut speeds: HashMap<&str, (usize, Rate)> = HashMap::new();
        self.nics().for_each(|nic| speeds.entry(nic.speed).or_insert((0, nic.rate)).0 += 1);
        let mut speeds: Vec<_> = speeds.into_iter().collect();
        speeds.sort_by_key(|&(speed, (count, rate))| (std::cmp::Reverse((count, rate)), speed));
        speeds.into_iter().map(|(speed, (count, _))| (speed, count)).collect()
    }

    /// The NICs of all nodes.
    pub(super) fn nics(&self) -> impl Iterator<Item = &Nic<'a>> {
        self.hosts.iter().flat_map(|host| &host.nics)
    }

    /// Bandwidth of most NICs.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.speeds().first().and_then(|(speed, _)| data_rate(speed))
    }

    /// Puts the hosts at their routers: `place` has the id of each switch. Returns the NIC of each node.
    pub(super) fn place(mut self, builder: &mut MachineBuilder, place: &[RouterId]) -> Vec<Nic<'a>> {
        builder.reading.append(&mut self.reading);
        let router = |nic: &Nic<'_>| place[nic.switch];
        self.hosts.sort_by_key(|host| router(&host.nics[0]));
        let rails = self.hosts.first().map_or(1, |host| host.nics.len());
        let each = || (0..rails).flat_map(|rail| self.hosts.iter().map(move |host| (rail, host)));
        builder.node_router = each().map(|(rail, host)| router(&host.nics[rail])).collect();
        builder.node_names = each().map(|(rail, host)| nic_name(&host.name, rail)).collect();
        builder.node_up = vec![true; builder.node_router.len()];
        builder.rails.per_plane = rails as u32;
        each().map(|(rail, host)| host.nics[rail]).collect()
    }
}

fn is_aggregation_node(description: &str, adapter: Adapter<'_>) -> bool {
    description.contains(AGGREGATION_NODE) || adapter.device.is_some_and(|id| AGGREGATION_DEVICES.contains(&id))
}

/// The host of a port, and its NIC. An adapter without the name of a host is one itself.
fn nic<'a>(switch: usize, end: &End<'a>, description: &'a str) -> Result<(&'a str, Nic<'a>), (usize, String)> {
    let mut words = description.split_whitespace();
    let (host, adapter) = (words.next(), words.next().unwrap_or(""));
    let host = host.filter(|_| !description.contains(OF_FIRMWARE)).unwrap_or(end.peer);
    let rate = data_rate(end.speed).ok_or_else(|| (end.line, unknown_speed(end.speed)))?;
    let &End { line, port: switch_port, peer: guid, peer_port: port, speed, lid, .. } = end;
    Ok((host, Nic { switch, switch_port, lid, line, guid, adapter, port, speed, rate }))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The first names, and how many others there are.
fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        others => format!("{shown} and {others} others"),
    }
}
