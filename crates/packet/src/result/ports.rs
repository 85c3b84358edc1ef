//! Records of ports, links and nodes, read from the parts of partitions.

use crate::fabric::Fabric;
use crate::record::{Backlog, ChannelRecord, FifoRecord, JobWait, Part, PortRecord, QueueRecord};
use std::fmt;
use std::sync::Arc;

/// Records of ports. Partitions keep their records; this type finds them by link and node.
#[derive(Clone)]
pub struct PortRecords {
    fabric: Arc<Fabric>,
    channels: usize,
    jobs: usize,
    parts: Vec<Part>,
    /// First port, NIC and router of each part.
    starts: Vec<[usize; 3]>,
}

/// Records of one port, about packets that it sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PortView<'a> {
    /// Sums over its channels.
    pub record: &'a PortRecord,
    /// Half width of the 95 % interval of its bytes, if iterations were skipped with an error.
    pub half_width_bytes: Option<u64>,
    /// Its virtual channels; empty unless recorded.
    pub channels: &'a [ChannelRecord],
    /// Input queues at the other end of its link, by virtual channel; empty unless recorded.
    pub queues: &'a [QueueRecord],
    /// Bytes of each job; empty unless recorded, or with a single job.
    pub job_bytes: &'a [u64],
    /// Total wait for it at the heads of input queues; `None` unless recorded.
    pub crossbar_stall_ps: Option<u64>,
    /// Stall time as in [`Recording::counted_stall`](crate::Recording::counted_stall), if recorded.
    pub counted_stall_ps: Option<u64>,
    /// Waits by job and blocking job, by virtual channel; empty unless recorded.
    pub job_waits: &'a [Vec<JobWait>],
}

/// Records of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NodeView<'a> {
    /// Port that leads to its first NIC.
    pub port: PortView<'a>,
    /// Bytes that its NICs injected in the window.
    pub injected_bytes: u64,
    /// Sum of the stall times of its NICs: they had a packet but no credit.
    pub stall_ps: u64,
    /// Longest backlog of its ejection ports, in the whole run.
    pub backlog: Backlog,
}

impl PortRecords {
    /// Collects the parts of a machine, in order.
    pub(super) fn new(fabric: Arc<Fabric>, channels: usize, jobs: usize, parts: Vec<Part>) -> Self {
        let mut next = [0; 3];
        let mut starts = Vec::with_capacity(parts.len());
        for part in &parts {
            starts.push(next);
            let sizes = [part.ports.len(), part.nics.len(), part.tables.len()];
            next.iter_mut().zip(sizes).for_each(|(next, size)| *next += size);
        }
        Self { fabric, channels, jobs, parts, starts }
    }

    /// Every link, in order, by its sending port.
    pub fn links(&self) -> impl ExactSizeIterator<Item = PortView<'_>> {
        self.fabric.link_port.iter().map(|&port| self.port(port as usize))
    }

    /// Every node, in order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeView<'_>> {
        self.fabric.node_nic.iter().map(|&nic| {
            let (part, i) = self.find(1, nic as usize);
            let own = &part.nics[i..i + self.fabric.nics_per_node as usize];
            let (injected_bytes, stall_ps) = own.iter().fold((0, 0), |sum, nic| (sum.0 + nic.0, sum.1 + nic.1));
            let backlogs = part.backlogs[i..i + self.fabric.nics_per_node as usize].iter().copied();
            let backlog = backlogs.max_by_key(|backlog| backlog.length_ps).unwrap_or_default();
            NodeView { port: self.port(self.fabric.nic_port[nic as usize] as usize), injected_bytes, stall_ps, backlog }
        })
    }

    /// Every torus FIFO of every node, in order: node, number, record and stall time. Empty unless NICs are torus
    /// FIFOs.
    pub fn fifos(&self) -> impl Iterator<Item = (u32, u32, &FifoRecord, u64)> {
        let each = self.fabric.nics_per_node as usize;
        (0..).zip(&self.fabric.node_nic).flat_map(move |(node, &nic)| {
            let (part, i) = self.find(1, nic as usize);
            let own = part.fifos.get(i..i + each).unwrap_or(&[]).iter().zip(&part.nics[i..i + each]);
            (0..).zip(own).map(move |(number, (fifo, nic))| (node, number, fifo, nic.1))
        })
    }

    /// Estimates of every router in ns, in order. Rows are other groups by slot of the source node, columns are links
    /// from the router. Empty unless requested.
    pub fn tables(&self) -> impl Iterator<Item = &[f32]> {
        let kept = self.parts.iter().any(|part| !part.tables.is_empty());
        let places = self.fabric.place.iter().filter(move |_| kept);
        places.map(|&place| {
            let (part, i) = self.find(2, place as usize);
            part.tables[i].as_slice()
        })
    }

    fn port(&self, port: usize) -> PortView<'_> {
        let (part, i) = self.find(0, port);
        let several = |of: usize| i * of..(i + 1) * of;
        PortView {
            record: &part.ports[i],
            half_width_bytes: part.half_width_bytes.get(i).copied(),
            channels: part.channels.get(several(self.channels)).unwrap_or(&[]),
            queues: self.downstream_queues(port),
            job_bytes: part.port_jobs.get(several(self.jobs)).unwrap_or(&[]),
            crossbar_stall_ps: part.crossbar_stall_ps.get(i).copied(),
            counted_stall_ps: part.counted_stall_ps.get(i).copied(),
            job_waits: part.waits.get(several(self.channels)).unwrap_or(&[]),
        }
    }

    /// Input queues at the other end of a port's link; empty if that is a node.
    fn downstream_queues(&self, port: usize) -> &[QueueRecord] {
        let peer = self.fabric.peer[port] as usize;
        if self.fabric.is_node_port(port as u32) {
            return &[];
        }
        let (part, i) = self.find(0, peer);
        part.queues.get(i * self.channels..(i + 1) * self.channels).unwrap_or(&[])
    }

    /// Part and position of a port (0), a NIC (1) or a router (2).
    fn find(&self, kind: usize, number: usize) -> (&Part, usize) {
        let part = self.starts.partition_point(|starts| starts[kind] <= number) - 1;
        (&self.parts[part], number - self.starts[part][kind])
    }
}

/// Equal if every link, node and table is equal, whatever the parts.
impl PartialEq for PortRecords {
    fn eq(&self, other: &Self) -> bool {
        let tables = self.tables().eq(other.tables()) && self.fifos().eq(other.fifos());
        self.links().eq(other.links()) && self.nodes().eq(other.nodes()) && tables
    }
}

impl fmt::Debug for PortRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortRecords").field("parts", &self.parts.len()).finish_non_exhaustive()
    }
}
