//! What a reader takes for figures that its file does not give.

use crate::MachineBuilder;
use odonata_declare::{Assumption, Value};
use odonata_units::{Rate, RouterId};

/// Key of the bandwidth of the links between nodes and routers.
pub const NIC_BANDWIDTH: &str = "class.terminal.bandwidth";

impl MachineBuilder {
    /// Says that a figure is assumed: its key in `[machine]`, its value and the reason.
    pub(super) fn assume(&mut self, key: &str, value: &Value, reason: &str) {
        self.assumptions.retain(|known| known.key != key);
        let value = value.to_toml().to_string();
        self.assumptions.push(Assumption { key: key.into(), value, reason: reason.into() });
    }

    /// Says that the bandwidth of a class, or of `terminal`, is assumed.
    pub(super) fn assume_bandwidth(&mut self, class: &str, reason: &str) {
        let known = self.classes.iter().chain([&self.terminal]).find(|known| known.name == class);
        let bandwidth = known.expect("a class of the machine").bandwidth;
        self.assume(&format!("class.{class}.bandwidth"), &Value::Rate(bandwidth), reason);
    }

    /// Says that the bandwidths of all classes are assumed.
    pub(super) fn assume_bandwidths(&mut self, reason: &str) {
        let names: Vec<String> = self.classes.iter().chain([&self.terminal]).map(|class| class.name.clone()).collect();
        names.iter().for_each(|name| self.assume_bandwidth(name, reason));
    }

    /// Bandwidth of a NIC, from the cables: the fastest cable of a router with nodes. If every such router has a
    /// single node, this node is its own router (a GPU with several cables, a node of a torus), and its NIC carries
    /// what all of its cables carry. Also returns the reason; `None` without cables at nodes.
    pub fn bandwidth_of_nics(&self) -> Option<(Rate, &'static str)> {
        let mut nodes = vec![0u32; self.group_of.len()];
        self.node_router.iter().for_each(|router| nodes[router.index()] += 1);
        let own_routers = nodes.iter().all(|&count| count <= 1);
        let mut of_cables = vec![0u64; nodes.len()];
        for cable in &self.cables {
            for router in [cable.a, cable.b].map(RouterId::index) {
                let (all, bits) = (&mut of_cables[router], cable.bandwidth.bits_per_s());
                *all = if own_routers { all.saturating_add(bits) } else { bits.max(*all) };
            }
        }
        let most = of_cables.iter().zip(&nodes).filter(|(_, &count)| count > 0).map(|(&bits, _)| bits).max()?;
        let reason = match own_routers {
            true => "all cables of a router with one node",
            false => "the fastest cable of a router with nodes",
        };
        Some((Rate::from_bits_per_s(most), reason)).filter(|_| most > 0)
    }
}
