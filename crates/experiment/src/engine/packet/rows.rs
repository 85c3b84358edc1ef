//! Rows that the engine hands out while it runs, as tables that grow.

use super::keeper::Keeper;
use crate::checkpoint::Origin;
use crate::engine::Watcher;
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
        Ways::PACKETS.declaration(),
    ]
}

/// A port that leads to no other router.
const NO_LINK: u32 = u32::MAX;

/// Passes rows on to a watcher and keeps those that it does not want.
pub(super) struct Passed<'a> {
    watcher: &'a mut dyn Watcher,
    /// Link of every port.
    links: Vec<u32>,
    paths: bool,
    kept: Vec<(&'static str, Frame)>,
    /// Where state goes, how often by the clock on the wall, and whose it is.
    checkpoints: (&'a Keeper, Option<Duration>, Origin),
}

impl<'a> Passed<'a> {
    /// For ports of which `link_ports` are those of the links. Every table that will have rows is there from the start.
    pub(super) fn new(
        watcher: &'a mut dyn Watcher,
        link_ports: &[u32],
        recording: Recording,
        checkpoints: (&'a Keeper, Option<Duration>, Origin),
    ) -> Self {
        let ports = link_ports.iter().max().map_or(0, |port| *port as usize + 1);
        let mut links = vec![NO_LINK; ports];
        for (link, &port) in (0..).zip(link_ports) {
            links[port as usize] = link;
        }
        let mut passed = Self { watcher, links, paths: recording.paths, kept: Vec::new(), checkpoints };
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

    /// A run up to `end_ps`, from which on this one goes on. Whether it is to go on.
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

impl Watch for Passed<'_> {
    fn progress(&mut self, progress: Progress) -> bool {
        self.watcher.pace(progress.now_ps, progress.events);
        self.watcher.progress("simulating", progress.now_ps as f64 / progress.end_ps.max(1) as f64)
    }

    fn wants_checkpoint(&mut self, now_ps: u64) -> bool {
        let (keeper, every, origin) = &mut self.checkpoints;
        keeper.begin(self.watcher, *every, origin, now_ps)
    }

    fn checkpoint_taken(&mut self) {
        let (keeper, _, origin) = &mut self.checkpoints;
        keeper.end(self.watcher, origin);
    }

    fn rows(&mut self, rows: Rows) {
        let (name, frame) = match rows {
            Rows::Packets(packets) => {
                Ways::PACKETS.of(&Ways { packets: &packets, links: &self.links, recorded: self.paths })
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

/// Of the rows of something with a link.
fn each<R, T>(rows: &[(u32, R)], get: impl Fn(&R) -> T) -> Values
where
    Values: FromIterator<T>,
{
    rows.iter().map(|(_, row)| get(row)).collect()
}

const LINK_SERIES: FilledTable<'_, Vec<(u32, PortInterval)>> = FilledTable {
    name: "link_series",
    row: "interval and link in which anything happened",
    sorted_by: &["start_ps", "link"],
    under: Some("series = [\"links\"] with interval"),
    doc: "From time 0 on; what lasts over the end of an interval is cut there.",
    columns: &[
        Column::key("start_ps", U64, Ps, "Start", "Start of the interval.")
            .by(|rows: &Vec<(u32, PortInterval)>| each(rows, |row| row.start_ps)),
        Column::key("link", U32, Plain, "Link", "Number of the link.")
            .of("links")
            .by(|rows| rows.iter().map(|(link, _)| *link).collect()),
        Column::sum("bytes", U64, Bytes, "Traffic", "Bytes of packets that it began to send.")
            .by(|rows| each(rows, |row| row.bytes)),
        Column::sum("packets", U64, Count, "Packets", "Packets that it began to send.")
            .by(|rows| each(rows, |row| row.packets)),
        Column::sum("busy_ps", U64, Ps, "Busy", "Time during which it sent.").by(|rows| each(rows, |row| row.busy_ps)),
        Column::sum(
            "stall_ps",
            U64,
            Ps,
            "Stall",
            "Time during which it was free and packets waited, but none had credit.",
        )
        .headline()
        .by(|rows| each(rows, |row| row.stall_ps)),
        Column::max("peak_bytes", U64, Bytes, "Peak occupancy", "Most bytes in its port's output buffers at a time.")
            .by(|rows| each(rows, |row| row.peak_bytes)),
    ],
};

const CHANNEL_SERIES: FilledTable<'_, Vec<(u32, ChannelInterval)>> = FilledTable {
    name: "channel_series",
    row: "interval, link and virtual channel in which anything happened",
    sorted_by: &["start_ps", "link", "vc"],
    under: Some("series = [\"channels\"] with interval"),
    doc: "From time 0 on; what lasts over the end of an interval is cut there.",
    columns: &[
        Column::key("start_ps", U64, Ps, "Start", "Start of the interval.")
            .by(|rows: &Vec<(u32, ChannelInterval)>| each(rows, |row| row.start_ps)),
        Column::key("link", U32, Plain, "Link", "Number of the link.")
            .of("links")
            .by(|rows| rows.iter().map(|(link, _)| *link).collect()),
        Column::key("vc", U32, Plain, "Virtual channel", "Number of the virtual channel.")
            .by(|rows| each(rows, |row| u32::from(row.vc))),
        Column::sum("bytes", U64, Bytes, "Traffic", "Bytes of packets that it began to send.")
            .by(|rows| each(rows, |row| row.bytes)),
        Column::sum("packets", U64, Count, "Packets", "Packets that it began to send.")
            .by(|rows| each(rows, |row| row.packets)),
        Column::sum(
            "stall_ps",
            U64,
            Ps,
            "Stall",
            "Time during which the link was stalled and packets of this channel waited.",
        )
        .headline()
        .by(|rows| each(rows, |row| row.stall_ps)),
        Column::max("peak_bytes", U64, Bytes, "Peak occupancy", "Most bytes in its output buffer at a time.")
            .by(|rows| each(rows, |row| row.peak_bytes)),
    ],
};

const LINK_JOB_SERIES: FilledTable<'_, Vec<(u32, JobPortInterval)>> = FilledTable {
    name: "link_job_series",
    row: "interval, link and job with traffic",
    sorted_by: &["start_ps", "link", "job"],
    under: Some("series = [\"link-jobs\"] with interval"),
    doc: "From time 0 on.",
    columns: &[
        Column::key("start_ps", U64, Ps, "Start", "Start of the interval.")
            .by(|rows: &Vec<(u32, JobPortInterval)>| each(rows, |row| row.start_ps)),
        Column::key("link", U32, Plain, "Link", "Number of the link.")
            .of("links")
            .by(|rows| rows.iter().map(|(link, _)| *link).collect()),
        Column::key("job", U32, Plain, "Job", "Number of the job.")
            .of("jobs")
            .by(|rows| each(rows, |row| u32::from(row.job))),
        Column::sum("bytes", U64, Bytes, "Traffic", "Bytes of its packets that the link began to send.")
            .headline()
            .by(|rows| each(rows, |row| row.bytes)),
    ],
};

/// Packets that arrived, with their ways if these were recorded.
struct Ways<'a> {
    packets: &'a [TracedPacket],
    /// Link of every port.
    links: &'a [u32],
    recorded: bool,
}

impl<'a> Ways<'a> {
    const PACKETS: FilledTable<'a, Self> = FilledTable {
        name: "packets",
        row: "packet that was made within the measurement and arrived",
        sorted_by: &["delivered_ps"],
        under: Some("record_packets = true"),
        doc: "",
        columns: &[
            Column::key("delivered_ps", U64, Ps, "Arrival", "When its last byte arrived.")
                .by(|ways| ways.each(|packet| packet.record.delivered_ps)),
            Column::key("source", U32, Plain, "Source node", "Node that made it.")
                .of("nodes")
                .by(|ways| ways.each(|packet| packet.record.source)),
            Column::attribute("destination", U32, Plain, "Destination node", "Node that it went to.")
                .of("nodes")
                .by(|ways| ways.each(|packet| packet.record.destination)),
            Column::key("created_ps", U64, Ps, "Birth", "When it was made.")
                .by(|ways| ways.each(|packet| packet.record.created_ps)),
            Column::key("injected_ps", U64, Ps, "Injection", "When its head left its source.")
                .by(|ways| ways.each(|packet| packet.record.injected_ps)),
            Column::attribute("job", U32, Plain, "Job", "Job that it belongs to.")
                .of("jobs")
                .by(|ways| ways.each(|packet| u32::from(packet.record.job))),
            Column::sum("bytes", U32, Bytes, "Size", "Its bytes.").by(|ways| ways.each(|packet| packet.record.size)),
            Column::mean("hops", U16, Hops, "Hops", "Links from router to router that it took.")
                .by(|ways| ways.each(|packet| u16::from(packet.record.hops))),
            Column::attribute("non_minimal", Bool, Plain, "Non-minimal", "Whether it left the minimal way.")
                .by(|ways| ways.each(|packet| packet.record.non_minimal)),
            Column::attribute(
                "via_intermediate_group",
                Bool,
                Plain,
                "Over a middle group",
                "Whether it was in a group which is neither its source's nor its destination's.",
            )
            .by(|ways| ways.each(|packet| packet.record.via_intermediate_group)),
            Column::attribute("links", Lists, Plain, "Way", "Every link of its way, in order.")
                .of("links")
                .under("record_paths = true")
                .by_if(|ways| ways.lists(|ways, hop| ways.links[hop.port as usize])),
            Column::attribute("vcs", Lists, Plain, "Virtual channels", "Virtual channel on each link of its way.")
                .under("record_paths = true")
                .by_if(|ways| ways.lists(|_, hop| hop.vc.into())),
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
