//! Forwarding tables as a subnet manager has them: a port number by switch and LID.
//!
//! Two formats are read. `ibroute` and its loops over all switches (`dump_lfts.sh`, `dump_fts`), like OpenSM's
//! `opensm-lfts.dump`:
//!
//! ```text
//! Unicast lids [0x0-0x10] of switch Lid 4 guid 0x0002c90200400001 (leaf1):
//!   Lid  Out   Destination
//!        Port     Info
//! 0x0001 030 : (Channel Adapter portguid 0x0002c90300100001: 'node1 HCA-1')
//! ```
//!
//! And the `.fdbs` files of OpenSM and `ibdiagnet`:
//!
//! ```text
//! osm_ucast_mgr_dump_ucast_routes: Switch 0x0002c90200400001
//! LID    : Port : Hops : Optimal
//! 0x0001 : 030  : 00   : yes
//! 0x0002 : UNREACHABLE
//! ```
//!
//! Switches, LIDs and ports get their meaning from the scan of the subnet ([`Subnet`]). Entries for other LIDs
//! than an adapter's are not used: LIDs of switches, and further LIDs of a port with an LMC above 0.

use super::table::ForwardingTable;
use crate::next_hop::{NextHops, Port};
use odonata_machine::subnet::{Peer, Subnet, SubnetSwitch};
use odonata_machine::Machine;
use odonata_units::NodeId;

/// An entry of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    line: usize,
    lid: u32,
    port: u32,
}

/// The table of one switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SwitchTable {
    line: usize,
    guid: Option<u64>,
    lid: Option<u32>,
    entries: Vec<Entry>,
}

/// A line, and what is wrong there.
type PlacedReason = (usize, String);

/// Whether a text has forwarding tables by LID.
pub(super) fn is_lft(text: &str) -> bool {
    text.lines().any(|line| header(line).is_some())
}

/// What follows the words that start the table of a switch.
fn header(line: &str) -> Option<&str> {
    let by_ibroute = line.trim_start().strip_prefix("Unicast lids ").and_then(|rest| rest.split_once(" of switch "));
    by_ibroute.or_else(|| line.split_once("dump_ucast_routes: Switch ")).map(|(_, switch)| switch)
}

/// The GUID and the LID of a switch: `Lid 4 guid 0x2c9 (leaf1):`, `DR path ... guid 0x2c9 (...)`, `0x2c9`.
fn switch_of(text: &str) -> Option<(Option<u64>, Option<u32>)> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    if let Some(guid) = hexadecimal(first) {
        return Some((Some(guid), None));
    }
    let lid = if first == "Lid" { Some(words.next()?.parse().ok()?) } else { None };
    let guid = words.skip_while(|word| *word != "guid").nth(1).and_then(hexadecimal);
    (guid.is_some() || lid.is_some()).then_some((guid, lid))
}

fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

/// Reads the tables of all switches.
pub(super) fn read(text: &str) -> Result<Vec<SwitchTable>, PlacedReason> {
    let mut tables: Vec<SwitchTable> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        if let Some(rest) = header(content) {
            let (guid, lid) = switch_of(rest)
                .ok_or_else(|| (line, "expected a switch as 'Lid 4 guid 0x2c9...' or '0x2c9...'".to_owned()))?;
            tables.push(SwitchTable { line, guid, lid, entries: Vec::new() });
            continue;
        }
        // Titles, counts and comments.
        let Some(lid) = content.split_whitespace().next().and_then(hexadecimal) else { continue };
        let Some(table) = tables.last_mut() else {
            return Err((line, "an entry before the first switch".into()));
        };
        let port = content.split_whitespace().skip(1).find(|word| *word != ":").unwrap_or("");
        if port == "UNREACHABLE" {
            continue;
        }
        match (u32::try_from(lid), port.parse()) {
            (Ok(lid), Ok(port)) => table.entries.push(Entry { line, lid, port }),
            _ => return Err((line, format!("expected a LID and a port as '0x0001 030', found '{}'", content.trim()))),
        }
    }
    Ok(tables)
}

/// Enters the tables of all switches for the nodes of a machine.
pub(super) fn enter(
    tables: &[SwitchTable],
    hops: &NextHops,
    machine: &Machine,
    forwarding: &mut ForwardingTable,
) -> Result<(), PlacedReason> {
    let first = tables.first().map_or(1, |table| table.line);
    let subnet = machine.subnet().ok_or_else(|| {
        let reason =
            "LIDs and port numbers need a machine read from ibnetdiscover; for other machines, write a CSV with \
                      router, destination and next";
        (first, reason.to_owned())
    })?;
    if 2 * subnet.cables != machine.link_count() {
        let reason = format!(
            "the machine has {} cables, but its file {}: tables by port number need the cables of the file, without edits",
            machine.link_count() / 2,
            subnet.cables
        );
        return Err((first, reason));
    }
    for table in tables {
        let Some(switch) = subnet.switch(table.guid, table.lid) else {
            return Err((table.line, format!("the machine's file has no switch {}", table.name())));
        };
        for entry in &table.entries {
            enter_one(entry, switch, subnet, hops, machine, forwarding)
                .map_err(|reason| (entry.line, format!("switch {}: {reason}", machine.router_name(switch.router))))?;
        }
    }
    Ok(())
}

impl SwitchTable {
    fn name(&self) -> String {
        let guid = self.guid.map(|guid| format!("with GUID {guid:#018x}"));
        let lid = self.lid.map(|lid| format!("with LID {lid}"));
        guid.into_iter().chain(lid).collect::<Vec<_>>().join(" or ")
    }
}

fn enter_one(
    &Entry { lid, port: number, .. }: &Entry,
    switch: &SubnetSwitch,
    subnet: &Subnet,
    hops: &NextHops,
    machine: &Machine,
    forwarding: &mut ForwardingTable,
) -> Result<(), String> {
    let Some(&node) = subnet.node_of_lid.get(&lid) else { return Ok(()) };
    let to = || format!("LID {lid} (node {})", machine.node_name(node));
    let port = match switch.ports.get(&number) {
        None => return Err(format!("{} goes to port {number}, which has no cable", to())),
        Some(Peer::Node(other)) if *other == node => return Ok(()),
        Some(Peer::Node(other)) => {
            return Err(format!("{} goes to port {number}, which has node {}", to(), machine.node_name(*other)))
        }
        Some(&Peer::Router(next, cable)) => {
            if machine.router_of(node) == switch.router {
                let next = machine.router_name(next);
                return Err(format!("{} goes to port {number}, to switch {next}, but is at this switch", to()));
            }
            let mut cables = hops.ports(switch.router).filter(|&port| hops.neighbour(switch.router, port) == next);
            cables.nth(cable).expect("the scan has the same cables")
        }
    };
    set_once(forwarding, switch, node, port).map_err(|()| format!("{} has a second entry with another port", to()))
}

fn set_once(forwarding: &mut ForwardingTable, switch: &SubnetSwitch, node: NodeId, port: Port) -> Result<(), ()> {
    match forwarding.get(switch.router, node) {
        Some(other) if other != port => Err(()),
        _ => {
            forwarding.set(switch.router, node, port);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IBROUTE: &str = "Unicast lids [0x0-0x10] of switch Lid 4 guid 0x0002c90200400001 (leaf1):\n  \
        Lid  Out   Destination\n       Port     Info \n\
        0x0001 030 : (Channel Adapter portguid 0x0002c90300100001: 'node1 HCA-1')\n\
        0x0002 033 : (Switch portguid 0x0002c90200400002: 'spine1')\n2 valid lids dumped \n\
        Unicast lids [0x0-0x10] of switch DR path slid 0; dlid 0; 0,1,19 guid 0x2 (spine1):\n0x0001 001 : (x)\n";

    #[test]
    fn both_formats_name_switch_lid_and_port() {
        let fdbs = "osm_ucast_mgr_dump_ucast_routes: Switch 0x0002c90200400001\nLID    : Port : Hops : Optimal\n\
            0x0001 : 030  : 00   : yes\n0x0002 : UNREACHABLE\n0x0003 : 033  : 01   : no\n";
        assert!(is_lft(IBROUTE) && is_lft(fdbs) && !is_lft("router,destination,next\n0x1,a,b\n"));
        let entries = |table: &SwitchTable| -> Vec<[u32; 3]> {
            table.entries.iter().map(|entry| [entry.line as u32, entry.lid, entry.port]).collect()
        };
        let [first, second] = &read(IBROUTE).unwrap()[..] else { panic!("two switches") };
        assert_eq!((first.guid, first.lid), (Some(0x0002_c902_0040_0001), Some(4)));
        assert_eq!(entries(first), [[4, 1, 30], [5, 2, 33]]);
        assert_eq!((second.guid, second.lid, entries(second)), (Some(2), None, vec![[8, 1, 1]]));
        let [only] = &read(fdbs).unwrap()[..] else { panic!("one switch") };
        assert_eq!((only.guid, only.lid), (first.guid, None));
        assert_eq!(entries(only), [[3, 1, 30], [5, 3, 33]]);
    }

    #[test]
    fn invalid_lines_are_named() {
        let refused = |text: &str| read(text).unwrap_err();
        assert_eq!(refused("0x0001 030 : x\n").0, 1);
        let (line, reason) = refused("Unicast lids [0-2] of switch Lid 4 guid 0x1 (a):\n0x0001 x30 : x\n");
        assert_eq!(line, 2);
        assert!(reason.contains("found '0x0001 x30 : x'"), "{reason}");
        assert!(refused("Unicast lids [0-2] of switch somewhere:\n").1.contains("expected a switch"));
    }
}
