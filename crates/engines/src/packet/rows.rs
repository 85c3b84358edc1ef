//! Rows that the engine hands out while it runs, as tables that grow.

use super::columns::{BUSY, CHANNEL_PEAK, CHANNEL_STALL, PEAK, STALL};
use super::keeper::Keeper;
use crate::checkpoint::Origin;
use crate::engine::Watcher;
use crate::record::ids::{JOB, LINK, START, VC};
use odonata_declare::Type::{Bool, Lists, U16, U32, U64};
use odonata_declare::Unit::{Bytes, Count, Hops, Plain, Ps};
use odonata_declare::{Column, FilledTable, Frame, Table, Values};
use odonata_packet::{
    ChannelInterval, JobPortInterval, PathHop, PortInterval, Progress, Recording, Rows, TracedPacket, Watch,
};
use std::time::Duration;

/// The declarations, in the order of the reference.
pub(super) fn tables() -> Vec<Table> {
    vec![
        LINK_SERIES.declaration(),
        CHANNEL_SERIES.declaration(),
        LINK_JOB_SERIES.declaration(),
        PacketPaths::PACKETS.declaration(),
    ]
}

/// A port that leads to no other router.
const NO_LINK: u32 = u32::MAX;

/// Passes rows to a watcher and keeps the rows that the watcher does not take.
pub(super) struct RowForwarder<'a> {
    watcher: &'a mut dyn Watcher,
    /// Link of every port.
    links: Vec<u32>,
    paths: bool,
    kept: Vec<(&'static str, Frame)>,
    /// Target of checkpoints, the wall-clock interval between two, and their origin.
    keeper: &'a Keeper,
    every: Option<Duration>,
    origin: Origin,
}

impl<'a> RowForwarder<'a> {
    /// `link_ports` are the ports of the links. Every recorded table exists from the start.
    pub(super) fn new(
        watcher: &'a mut dyn Watcher,
        link_ports: &[u32],
        recording: Recording,
        keeper: &'a Keeper,
        every: Option<Duration>,
        origin: Origin,
    ) -> Self {
        let ports = link_ports.iter().max().map_or(0, |port| *port as usize + 1);
        let mut links = vec![NO_LINK; ports];
        for (link, &port) in (0..).zip(link_ports) {
            links[port as usize] = link;
        }
        let mut passed = Self { watcher, links, paths: recording.paths, kept: Vec::new(), keeper, every, origin };
        if recording.packets {
            passed.rows(Rows::Packets(Vec::new()));
        }
        let series = recording.interval_ps > 0;
        if series && recording.series.ports {
            passed.rows(Rows::Ports(Vec::new()));
        }
        if series && recording.series.channels {
            passed.rows(Rows::Channels(Vec::new()));
        }
        if series && recording.series.port_jobs {
            passed.rows(Rows::PortJobs(Vec::new()));
        }
        passed
    }

    /// Progress of a warm-up up to `end_ps`. Returns whether to continue.
    pub(super) fn warms_up(&mut self, progress: Progress, end_ps: u64) -> bool {
        self.watcher.pace(progress.now_ps, progress.events);
        // It ends with a window of its own behind the state.
        self.watcher.progress("warming up", (progress.now_ps as f64 / end_ps.max(1) as f64).min(1.0))
    }

    /// Another run warms up for this one. Whether it is to wait.
    pub(super) fn waits(&mut self) -> bool {
        self.watcher.progress("waiting for a warm-up", 0.0)
    }

    /// The tables that the watcher did not want.
    pub(super) fn into_kept(self) -> Vec<(&'static str, Frame)> {
        self.kept
    }

    fn link(&self, port: u32) -> u32 {
        self.links.get(port as usize).copied().unwrap_or(NO_LINK)
    }

    /// The rows of ports that lead to routers, with their links.
    fn of_links<R>(&self, rows: Vec<R>, port: fn(&R) -> u32) -> Vec<(u32, R)> {
        let with_link = rows.into_iter().map(|row| (self.link(port(&row)), row));
        with_link.filter(|(link, _)| *link != NO_LINK).collect()
    }
}

impl Watch for RowForwarder<'_> {
    fn progress(&mut self, progress: Progress) -> bool {
        self.watcher.pace(progress.now_ps, progress.events);
        self.watcher.progress("simulating", progress.now_ps as f64 / progress.end_ps.max(1) as f64)
    }

    fn wants_checkpoint(&mut self, now_ps: u64) -> bool {
        self.keeper.begin(self.watcher, self.every, &mut self.origin, now_ps)
    }

    fn checkpoint_taken(&mut self) {
        self.keeper.end(self.watcher, &mut self.origin);
    }

    fn rows(&mut self, rows: Rows) {
        let (name, frame) = match rows {
            Rows::Packets(packets) => {
                PacketPaths::PACKETS.of(&PacketPaths { packets: &packets, links: &self.links, recorded: self.paths })
            }
            Rows::Ports(rows) => LINK_SERIES.of(&self.of_links(rows, |row| row.port)),
            Rows::Channels(rows) => CHANNEL_SERIES.of(&self.of_links(rows, |row| row.port)),
            Rows::PortJobs(rows) => LINK_JOB_SERIES.of(&self.of_links(rows, |row| row.port)),
        };
        let Some(frame) = self.watcher.rows(name, frame) else { return };
        match self.kept.iter_mut().find(|(kept, _)| *kept == name) {
            Some((_, kept)) => kept.append(frame),
            None => self.kept.push((name, frame)),
        }
    }
}

/// One value of each row.
fn each<R, T>(rows: &[(u32, R)], get: impl Fn(&R) -> T) -> Values
where
    Values: FromIterator<T>,
{
    rows.iter().map(|(_, row)| get(row)).collect()
}

const LINK_SERIES: FilledTable<'_, Vec<(u32, PortInterval)>> = FilledTable {
    name: "link_series",
    row: "interval and link with any activity",
    sorted_by: &["start_ps", "link"],
    under: Some("interval, series = [\"links\"]"),
    doc: "Intervals from time 0. An activity across the end of an interval is split there.",
    columns: &[
        START.by(|rows: &Vec<(u32, PortInterval)>| each(rows, |row| row.start_ps)),
        LINK.by(|rows| rows.iter().map(|(link, _)| *link).collect()),
        Column::sum("bytes", U64, Bytes, "Traffic", "Bytes of packets whose transmission started.")
            .by(|rows| each(rows, |row| row.bytes)),
        Column::sum("packets", U64, Count, "Packets", "Packets whose transmission started.")
            .by(|rows| each(rows, |row| row.packets)),
        BUSY.by(|rows| each(rows, |row| row.busy_ps)),
        STALL.by(|rows| each(rows, |row| row.stall_ps)),
        PEAK.by(|rows| each(rows, |row| row.peak_bytes)),
    ],
};

const CHANNEL_SERIES: FilledTable<'_, Vec<(u32, ChannelInterval)>> = FilledTable {
    name: "channel_series",
    row: "interval, link and virtual channel with any activity",
    sorted_by: &["start_ps", "link", "vc"],
    under: Some("interval, series = [\"channels\"]"),
    doc: "Intervals from time 0. An activity across the end of an interval is split there.",
    columns: &[
        START.by(|rows: &Vec<(u32, ChannelInterval)>| each(rows, |row| row.start_ps)),
        LINK.by(|rows| rows.iter().map(|(link, _)| *link).collect()),
        VC.by(|rows| each(rows, |row| u32::from(row.vc))),
        Column::sum("bytes", U64, Bytes, "Traffic", "Bytes of packets whose transmission started.")
            .by(|rows| each(rows, |row| row.bytes)),
        Column::sum("packets", U64, Count, "Packets", "Packets whose transmission started.")
            .by(|rows| each(rows, |row| row.packets)),
        CHANNEL_STALL.headline().by(|rows| each(rows, |row| row.stall_ps)),
        CHANNEL_PEAK.by(|rows| each(rows, |row| row.peak_bytes)),
    ],
};

const LINK_JOB_SERIES: FilledTable<'_, Vec<(u32, JobPortInterval)>> = FilledTable {
    name: "link_job_series",
    row: "interval, link and job with traffic",
    sorted_by: &["start_ps", "link", "job"],
    under: Some("interval, series = [\"link-jobs\"]"),
    doc: "Intervals from time 0.",
    columns: &[
        START.by(|rows: &Vec<(u32, JobPortInterval)>| each(rows, |row| row.start_ps)),
        LINK.by(|rows| rows.iter().map(|(link, _)| *link).collect()),
        JOB.by(|rows| each(rows, |row| u32::from(row.job))),
        Column::sum("bytes", U64, Bytes, "Traffic", "Bytes of the job's packets whose transmission started.")
            .headline()
            .by(|rows| each(rows, |row| row.bytes)),
    ],
};

/// Delivered packets, with their paths if recorded.
struct PacketPaths<'a> {
    packets: &'a [TracedPacket],
    /// Link of every port.
    links: &'a [u32],
    recorded: bool,
}

impl<'a> PacketPaths<'a> {
    const PACKETS: FilledTable<'a, Self> = FilledTable {
        name: "packets",
        row: "delivered packet that was created within the measurement",
        sorted_by: &["delivered_ps"],
        under: Some("record_packets = true"),
        doc: "",
        columns: &[
            Column::key("delivered_ps", U64, Ps, "Delivered", "Time at which the last byte was delivered.")
                .by(|paths| paths.each(|packet| packet.record.delivered_ps)),
            Column::key("source", U32, Plain, "Source node", "Node that sent the packet.")
                .of("nodes")
                .by(|paths| paths.each(|packet| packet.record.source)),
            Column::attribute("destination", U32, Plain, "Destination node", "Node that received the packet.")
                .of("nodes")
                .by(|paths| paths.each(|packet| packet.record.destination)),
            Column::key("created_ps", U64, Ps, "Created", "Time at which the packet was created.")
                .by(|paths| paths.each(|packet| packet.record.created_ps)),
            Column::key("injected_ps", U64, Ps, "Injected", "Time at which the head left the source.")
                .by(|paths| paths.each(|packet| packet.record.injected_ps)),
            Column::attribute("job", U32, Plain, "Job", "Job of the packet.")
                .of("jobs")
                .by(|paths| paths.each(|packet| u32::from(packet.record.job))),
            Column::sum("bytes", U32, Bytes, "Size", "Size of the packet on links, with header and padding.")
                .by(|paths| paths.each(|packet| packet.record.size)),
            Column::mean("hops", U16, Hops, "Hops", "Links between routers on the path.")
                .by(|paths| paths.each(|packet| u16::from(packet.record.hops))),
            Column::attribute("non_minimal", Bool, Plain, "Non-minimal", "Whether the path was non-minimal.")
                .by(|paths| paths.each(|packet| packet.record.non_minimal)),
            Column::attribute(
                "via_intermediate_group",
                Bool,
                Plain,
                "Via intermediate group",
                "Whether the path crossed a group other than the source group and the destination group.",
            )
            .by(|paths| paths.each(|packet| packet.record.via_intermediate_group)),
            Column::attribute("links", Lists, Plain, "Path", "Links of the path, in order.")
                .of("links")
                .under("record_paths = true")
                .by_if(|paths| paths.lists(|paths, hop| paths.links[hop.port as usize])),
            Column::attribute("vcs", Lists, Plain, "Virtual channels", "Virtual channel on each link of the path.")
                .under("record_paths = true")
                .by_if(|paths| paths.lists(|_, hop| hop.vc.into())),
        ],
    };

    fn each<T>(&self, get: fn(&TracedPacket) -> T) -> Values
    where
        Values: FromIterator<T>,
    {
        self.packets.iter().map(get).collect()
    }

    fn lists(&self, get: fn(&Self, &PathHop) -> u32) -> Option<Values> {
        let mut offsets = vec![0];
        let mut values = Vec::new();
        for packet in self.packets.iter().filter(|_| self.recorded) {
            values.extend(packet.path.iter().map(|hop| get(self, hop)));
            offsets.push(values.len() as i32);
        }
        self.recorded.then_some(Values::Lists { offsets, values })
    }
}
