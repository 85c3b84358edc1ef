//! An edge list as CSV, with a header.
//!
//! | column | meaning | if missing |
//! |---|---|---|
//! | `src`, `dst` | routers: numbers from 0, or names | an error |
//! | `class` | link class | `local` |
//! | `count` | parallel cables | 1 |
//! | `bandwidth` | with unit (`25 GB/s`, `200 Gb/s`) or the speed of a port (`100G`, `HDR`), or `bandwidth_bytes_per_s` as a number | from the options |
//! | `latency` | with unit (`100 ns`), or `latency_ps` as a whole number | from the options |
//! | `src_group`, `dst_group`, … | coordinates on the axis `group`, … | from the names |
//! | `src_nodes`, `dst_nodes` | nodes at that router | from the options |
//! | `src_port`, `dst_port` | port of the cable at that router, by any name; two cables on one port are an error | not checked |
//!
//! The names `source` and `target` are also accepted, so that a run's `links.parquet`, written as CSV, can be read.
//! Its other columns (`link`, `parallel`, `reverse`, `bytes`, `capacity_bytes_per_s`) are known: the capacity is the
//! bandwidth, and `port` the port at the source. Any other column is an error, because a mistyped column would be
//! ignored.

use super::edge_columns::{EdgeListColumns, EdgeListOptions};
use super::edge_list::build;
use super::format::{Format, FormatError};
use super::port_speed::port_speed;
use super::{line, text};
use crate::{MachineBuilder, MachineError};
use odonata_declare::{hint, Reader};
use odonata_units::{Quantity, Rate, Time};

/// Meaning of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Source,
    Target,
    Class,
    Count,
    Bandwidth,
    BandwidthNumber,
    Latency,
    LatencyNumber,
    SourceNodes,
    TargetNodes,
    SourcePort,
    TargetPort,
    /// Coordinate on an axis.
    SourceAxis(usize),
    TargetAxis(usize),
    Ignored,
}

const KNOWN: [&str; 14] = [
    "src",
    "dst",
    "class",
    "count",
    "bandwidth",
    "bandwidth_bytes_per_s",
    "latency",
    "latency_ps",
    "src_nodes",
    "dst_nodes",
    "src_port",
    "dst_port",
    "src_group",
    "dst_group",
];

/// Columns of a run's `links.parquet` without data about the wiring.
const OF_A_RUN: [&str; 4] = ["link", "parallel", "reverse", "bytes"];

/// Reads an edge list from CSV.
///
/// # Errors
/// A missing or unknown column, a wrong value, and all errors of [`edge_list_columns`](super::edge_list_columns); the
/// message has the line.
pub fn edge_list_csv(bytes: &[u8], label: &str, options: &EdgeListOptions) -> Result<MachineBuilder, MachineError> {
    text(bytes, label)?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(bytes);
    let mut columns = EdgeListColumns::default();
    let header = reader.headers().map_err(|error| csv_error(bytes, label, &error))?.clone();
    if header.is_empty() {
        return line(label, 1, "the file is empty; expected a header like 'src,dst,class,count,bandwidth,latency'");
    }
    let header_line = line_of(bytes, header.position());
    let fields = read_header(&header, &mut columns.axes).or_else(|reason| line(label, header_line, reason))?;
    let mut places = Vec::new();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| csv_error(bytes, label, &error))? {
        let place = line_of(bytes, record.position());
        read_row(&record, &header, &fields, &mut columns).or_else(|reason| line(label, place, reason))?;
        places.push(place);
    }
    if places.is_empty() {
        return line(label, header_line, "the list has a header, but no edges");
    }
    Ok(build(&columns, &[], options, label, "line", &places)?.0)
}

impl Format for EdgeListOptions {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(edge_list_csv(bytes, label, self)?)
    }
}

fn csv_error(bytes: &[u8], label: &str, error: &csv::Error) -> MachineError {
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} values, but the header has {expected_len}")
        }
        _ => error.to_string(),
    };
    MachineError::File { file: label.into(), place: format!("line {}", line_of(bytes, error.position())), reason }
}

/// The line of a record. Its position is where the reader started to search for it, before blank lines and comments.
fn line_of(bytes: &[u8], position: Option<&csv::Position>) -> usize {
    let Some(position) = position else { return 1 };
    let rest = bytes.get(position.byte() as usize..).unwrap_or_default();
    let skipped = rest.split(|&byte| byte == b'\n').take_while(|content| {
        let content = content.trim_ascii();
        content.is_empty() || content.starts_with(b"#")
    });
    position.line() as usize + skipped.count()
}

/// The field of every column; fills in the names of the axes.
fn read_header(header: &csv::StringRecord, axes: &mut Vec<String>) -> Result<Vec<Field>, String> {
    let mut fields = Vec::new();
    for name in header {
        let field = match name {
            "src" | "source" => Field::Source,
            "dst" | "target" => Field::Target,
            "class" => Field::Class,
            "count" => Field::Count,
            "bandwidth" => Field::Bandwidth,
            "bandwidth_bytes_per_s" | "capacity_bytes_per_s" => Field::BandwidthNumber,
            "latency" => Field::Latency,
            "latency_ps" => Field::LatencyNumber,
            "src_nodes" => Field::SourceNodes,
            "dst_nodes" => Field::TargetNodes,
            "port" | "src_port" | "source_port" => Field::SourcePort,
            "dst_port" | "target_port" => Field::TargetPort,
            name if OF_A_RUN.contains(&name) => Field::Ignored,
            name => {
                let source = ["src_", "source_"].iter().find_map(|prefix| name.strip_prefix(prefix));
                let target = ["dst_", "target_"].iter().find_map(|prefix| name.strip_prefix(prefix));
                let Some(axis) = source.or(target).filter(|axis| axis.starts_with(|c: char| c.is_ascii_lowercase()))
                else {
                    return Err(format!("unknown column '{name}'{}", hint(name, KNOWN)));
                };
                let position = axes.iter().position(|known| known == axis).unwrap_or_else(|| {
                    axes.push(axis.to_owned());
                    axes.len() - 1
                });
                if source.is_some() {
                    Field::SourceAxis(position)
                } else {
                    Field::TargetAxis(position)
                }
            }
        };
        if field != Field::Ignored && fields.contains(&field) {
            return Err(format!("column '{name}' repeats another column"));
        }
        fields.push(field);
    }
    for (field, name) in [(Field::Source, "src"), (Field::Target, "dst")] {
        if !fields.contains(&field) {
            let found: Vec<&str> = header.iter().collect();
            return Err(format!("column '{name}' is missing; the columns are {}", found.join(", ")));
        }
    }
    for (one, other, name) in
        [(Field::Bandwidth, Field::BandwidthNumber, "bandwidth"), (Field::Latency, Field::LatencyNumber, "latency")]
    {
        if fields.contains(&one) && fields.contains(&other) {
            return Err(format!("there are two columns of {name}; keep one"));
        }
    }
    for (position, axis) in axes.iter().enumerate() {
        if !fields.contains(&Field::SourceAxis(position)) || !fields.contains(&Field::TargetAxis(position)) {
            return Err(format!("'{axis}' is given for one end only; expected src_{axis} and dst_{axis}"));
        }
    }
    if fields.contains(&Field::SourceNodes) != fields.contains(&Field::TargetNodes) {
        return Err("src_nodes and dst_nodes must be given together".into());
    }
    Ok(fields)
}

fn read_row(
    record: &csv::StringRecord,
    header: &csv::StringRecord,
    fields: &[Field],
    columns: &mut EdgeListColumns,
) -> Result<(), String> {
    let axes = columns.axes.len();
    let mut coordinates = [vec![0; axes], vec![0; axes]];
    for ((&field, value), name) in fields.iter().zip(record).zip(header) {
        let whole = || value.parse::<u32>().map_err(|_| format!("{name}: expected a whole number, found '{value}'"));
        match field {
            Field::Source => columns.src.push(value.into()),
            Field::Target => columns.dst.push(value.into()),
            Field::Class => columns.class.push(value.into()),
            Field::Count => columns.count.push(whole()?),
            Field::Bandwidth => {
                columns.bandwidth.push(port_speed(value).map_err(|error| format!("{name}: {error}"))?);
            }
            Field::BandwidthNumber => columns.bandwidth.push(bytes_per_s(name, value)?),
            Field::Latency => {
                columns.latency.push(Quantity::time(value).map_err(|error| format!("{name}: {error}"))?);
            }
            Field::LatencyNumber => columns.latency.push(
                value
                    .parse()
                    .map(Time)
                    .map_err(|_| format!("{name}: expected a whole number of picoseconds, found '{value}'"))?,
            ),
            Field::SourceNodes => columns.src_nodes.push(whole()?),
            Field::TargetNodes => columns.dst_nodes.push(whole()?),
            Field::SourcePort => columns.src_port.push(value.into()),
            Field::TargetPort => columns.dst_port.push(value.into()),
            Field::SourceAxis(axis) => coordinates[0][axis] = whole()?,
            Field::TargetAxis(axis) => coordinates[1][axis] = whole()?,
            Field::Ignored => {}
        }
    }
    columns.src_coordinates.extend_from_slice(&coordinates[0]);
    columns.dst_coordinates.extend_from_slice(&coordinates[1]);
    Ok(())
}

/// A number of bytes per second, rounded to a whole bit per second.
fn bytes_per_s(name: &str, value: &str) -> Result<Rate, String> {
    match value.parse::<f64>() {
        // Below 2^60 bits per second, far above any link.
        Ok(number) if number > 0.0 && number < 1.4e17 => Ok(Rate::from_bits_per_s((number * 8.0).round() as u64)),
        _ => Err(format!("{name}: expected a number of bytes per second above 0, found '{value}'")),
    }
}
