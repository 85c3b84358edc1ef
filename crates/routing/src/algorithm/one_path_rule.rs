//! The rules of one path per flow, with their parameters.

use super::Refusal;
use crate::forwarding::candidates::UnreachedPair;
use crate::forwarding::d_mod_k::{d_mod_k, is_regular};
use crate::forwarding::listed::ForwardingRows;
use crate::forwarding::minimal::{min_hop, HashedPaths};
use crate::forwarding::table::entry_bytes;
use crate::forwarding::up_down::up_down;
use crate::forwarding::ForwardingRule;
use crate::next_hop::NextHops;
use odonata_declare::{parameters, Kind, Reader};
use odonata_machine::Machine;
use std::sync::Arc;

parameters! {
    /// The hash of a flow.
    #[derive(Copy, PartialEq, Eq)]
    pub struct EcmpSettings {
        /// Seed of the hash. Other seeds give other paths.
        pub seed: u64 = 1, Kind::Seed;
        /// Whether every switch has a hash of its own. If not, the hash of a flow is the same everywhere, and switches
        /// of the next level get flows that all agree in the choice of the first (polarization).
        pub switch_seeds: bool = true;
    }
}

parameters! {
    /// Forwarding tables of a file.
    #[derive(PartialEq, Eq)]
    pub struct TableSettings {
        /// Tables of a machine read from `ibnetdiscover`, as `dump_lfts.sh` (`ibroute`) or `ibdiagnet` (`.fdbs`) writes
        /// them. Or a CSV file with the columns `router`, `destination` (a node), `next` (a router) and, for parallel
        /// cables, `cable`: the names of the machine, and the cable's number from 0 on.
        pub file: String, Kind::Path;
        /// The rows of the file.
        pub rows: Option<Arc<ForwardingRows>> = None, no key;
    }
}

impl TableSettings {
    /// Reads the file.
    pub(super) fn read(&mut self, reader: &mut dyn Reader) -> Result<(), (&'static str, String)> {
        let rows = reader.read_filled(&self.file).and_then(|bytes| ForwardingRows::read(&self.file, &bytes));
        self.rows = Some(Arc::new(rows.map_err(|reason| ("file", reason))?));
        Ok(())
    }
}

/// A rule that gives every flow one path.
#[derive(Clone, PartialEq, Debug)]
pub enum OnePath {
    /// A hash of the flow at every router.
    Ecmp(EcmpSettings),
    /// The destination's number modulo the links up of a tree.
    DModK,
    /// Balanced tables of minimal paths.
    MinHop,
    /// Balanced tables of up/down paths.
    UpDown,
    /// Tables of a file.
    Tables(TableSettings),
}

impl OnePath {
    /// The ports of all routers.
    ///
    /// # Errors
    /// The machine does not fit the rule.
    pub fn forwarding(&self, hops: &Arc<NextHops>) -> Result<Arc<dyn ForwardingRule>, Refusal> {
        let cut = |unreached: UnreachedPair| Refusal::Machine(unreached.reason(hops));
        Ok(match self {
            Self::Ecmp(EcmpSettings { seed, switch_seeds }) => {
                Arc::new(HashedPaths::new(hops, *seed, *switch_seeds).map_err(cut)?)
            }
            Self::DModK => d_mod_k(hops).map_err(Refusal::Machine)?,
            Self::MinHop => Arc::new(min_hop(hops).map_err(cut)?),
            Self::UpDown => Arc::new(up_down(hops).map_err(cut)?),
            Self::Tables(settings) => {
                let (Some(rows), Some(machine)) = (&settings.rows, hops.machine()) else {
                    return Err(Refusal::Machine("needs a file of tables".into()));
                };
                Arc::new(rows.table(hops, machine).map_err(Refusal::Machine)?)
            }
        })
    }

    /// Whether more virtual channels may prevent a deadlock.
    pub(super) fn may_count(&self) -> bool {
        !self.is_listed()
    }

    /// Whether the tables come from a file, with names of the machine.
    pub(crate) fn is_listed(&self) -> bool {
        matches!(self, Self::Tables(_))
    }

    /// Most memory of the tables on a machine, in bytes.
    pub fn memory_bytes(&self, machine: &Machine) -> u64 {
        let (routers, nodes) = (machine.router_count() as u64, machine.node_count() as u64);
        let leaves = machine.routers().filter(|&r| !machine.nodes_of(r).is_empty()).count() as u64;
        let planes = machine.planes().len().max(1) as u64;
        let most = machine.routers().map(|r| machine.links_from(r).len()).max().unwrap_or(0);
        match self {
            // Number of a list by router and leaf.
            Self::Ecmp(_) => 4 * routers * leaves / planes,
            Self::DModK if is_regular(machine) => 2 * routers * leaves / planes + 8 * nodes,
            Self::DModK | Self::MinHop | Self::UpDown | Self::Tables(_) => entry_bytes(most) * routers * nodes / planes,
        }
    }
}
