//! Rows that the engine hands out while it runs, as tables that grow.

use crate::engine::Watcher;
use crate::tables::{Column, Table};
use odonata_packet::{
    ChannelInterval, JobPortInterval, PathHop, PortInterval, Progress, Recording, Rows, TracedPacket, Watch,
};

/// A port that leads to no other router.
const NO_LINK: u32 = u32::MAX;

/// Passes rows on to a watcher and keeps those that it does not want.
pub(super) struct Passed<'a> {
    watcher: &'a mut dyn Watcher,
    /// Link of every port.
    links: Vec<u32>,
    paths: bool,
    kept: Vec<(&'static str, Table)>,
}

impl<'a> Passed<'a> {
    /// For ports of which `link_ports` are those of the links. Every table that will have rows is there from the start.
    pub(super) fn new(watcher: &'a mut dyn Watcher, link_ports: &[u32], recording: Recording) -> Self {
        let ports = link_ports.iter().max().map_or(0, |port| *port as usize + 1);
        let mut links = vec![NO_LINK; ports];
        for (link, &port) in (0..).zip(link_ports) {
            links[port as usize] = link;
        }
        let mut passed = Self { watcher, links, paths: recording.paths, kept: Vec::new() };
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

    /// The tables that the watcher did not want.
    pub(super) fn into_kept(self) -> Vec<(&'static str, Table)> {
        self.kept
    }

    fn link(&self, port: u32) -> u32 {
        self.links.get(port as usize).copied().unwrap_or(NO_LINK)
    }

    fn packets(&self, rows: &[TracedPacket]) -> Table {
        let whole = |get: fn(&TracedPacket) -> u64| Column::U64(rows.iter().map(get).collect());
        let ids = |get: fn(&TracedPacket) -> u32| Column::U32(rows.iter().map(get).collect());
        let mut table = Table::new();
        table.push("arrival_ps", whole(|p| p.record.arrival_ps));
        table.push("source", ids(|p| p.record.source));
        table.push("destination", ids(|p| p.record.destination));
        table.push("birth_ps", whole(|p| p.record.birth_ps));
        table.push("inject_ps", whole(|p| p.record.inject_ps));
        table.push("job", ids(|p| p.record.job.into()));
        table.push("bytes", ids(|p| p.record.size));
        table.push("hops", Column::U16(rows.iter().map(|p| p.record.hops.into()).collect()));
        table.push("non_minimal", Column::Bool(rows.iter().map(|p| p.record.non_minimal).collect()));
        if self.paths {
            table.push("links", lists(rows, |hop| self.link(hop.port)));
            table.push("channels", lists(rows, |hop| hop.vc.into()));
        }
        table
    }

    fn ports(&self, rows: Vec<PortInterval>) -> Table {
        let rows: Vec<_> = rows.into_iter().filter(|r| self.link(r.port) != NO_LINK).collect();
        let whole = |get: fn(&PortInterval) -> u64| Column::U64(rows.iter().map(get).collect());
        let mut table = Table::new();
        table.push("start_ps", whole(|r| r.start_ps));
        table.push("link", Column::U32(rows.iter().map(|r| self.link(r.port)).collect()));
        table.push("bytes", whole(|r| r.bytes));
        table.push("packets", whole(|r| r.packets));
        table.push("busy_ps", whole(|r| r.busy_ps));
        table.push("stall_ps", whole(|r| r.stall_ps));
        table.push("peak_bytes", whole(|r| r.peak_bytes));
        table
    }

    fn channels(&self, rows: Vec<ChannelInterval>) -> Table {
        let rows: Vec<_> = rows.into_iter().filter(|r| self.link(r.port) != NO_LINK).collect();
        let whole = |get: fn(&ChannelInterval) -> u64| Column::U64(rows.iter().map(get).collect());
        let mut table = Table::new();
        table.push("start_ps", whole(|r| r.start_ps));
        table.push("link", Column::U32(rows.iter().map(|r| self.link(r.port)).collect()));
        table.push("vc", Column::U32(rows.iter().map(|r| r.vc.into()).collect()));
        table.push("bytes", whole(|r| r.bytes));
        table.push("packets", whole(|r| r.packets));
        table.push("stall_ps", whole(|r| r.stall_ps));
        table.push("peak_bytes", whole(|r| r.peak_bytes));
        table
    }

    fn port_jobs(&self, rows: Vec<JobPortInterval>) -> Table {
        let rows: Vec<_> = rows.into_iter().filter(|r| self.link(r.port) != NO_LINK).collect();
        let mut table = Table::new();
        table.push("start_ps", Column::U64(rows.iter().map(|r| r.start_ps).collect()));
        table.push("link", Column::U32(rows.iter().map(|r| self.link(r.port)).collect()));
        table.push("job", Column::U32(rows.iter().map(|r| r.job.into()).collect()));
        table.push("bytes", Column::U64(rows.iter().map(|r| r.bytes).collect()));
        table
    }
}

impl Watch for Passed<'_> {
    fn progress(&mut self, progress: Progress) -> bool {
        self.watcher.pace(progress.now_ps, progress.events);
        self.watcher.progress("simulating", progress.now_ps as f64 / progress.end_ps.max(1) as f64)
    }

    fn rows(&mut self, rows: Rows) {
        let (name, table) = match rows {
            Rows::Packets(rows) => ("packets", self.packets(&rows)),
            Rows::Ports(rows) => ("link_series", self.ports(rows)),
            Rows::Channels(rows) => ("channel_series", self.channels(rows)),
            Rows::PortJobs(rows) => ("link_job_series", self.port_jobs(rows)),
        };
        let Some(table) = self.watcher.rows(name, table) else { return };
        match self.kept.iter_mut().find(|(kept, _)| *kept == name) {
            Some((_, kept)) => kept.append(table),
            None => self.kept.push((name, table)),
        }
    }
}

fn lists(rows: &[TracedPacket], get: impl Fn(&PathHop) -> u32) -> Column {
    let mut offsets = vec![0];
    let mut values = Vec::new();
    for row in rows {
        values.extend(row.path.iter().map(&get));
        offsets.push(values.len() as i32);
    }
    Column::Lists { offsets, values }
}
