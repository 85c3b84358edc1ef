//! Networks of ASTRA-sim's analytical model (YAML).
//!
//! ```text
//! topology: [ Switch, Ring ]    # Ring, Switch, FullyConnected
//! npus_count: [ 8, 2 ]
//! bandwidth: [ 400, 50 ]        # GB/s of a link, in each direction
//! latency: [ 936.25, 1000 ]     # ns of a link
//! ```
//!
//! NPUs are numbered with the first dimension fastest. Every NPU is a router with one node, called `npu0`, `npu1`, ...;
//! the links of dimension d are the class `dimd`. In a line of NPUs, a ring joins neighbours, and a switch is a router
//! of its own with a cable to each. With a switch as the only dimension, NPUs are the nodes of this switch.

use super::assumed::NIC_BANDWIDTH;
use super::edge_columns::EdgeListOptions;
use super::edge_list::{name_nodes, ListedCables};
use super::located_value::{document, LocatedValue};
use super::{entries, line, text};
use crate::topology::LinkFigures;
use crate::{MachineBuilder, MachineError};

const FORMS: [&str; 3] = ["Ring", "FullyConnected", "Switch"];

struct Dimension {
    form: &'static str,
    size: usize,
    figures: LinkFigures,
}

/// Reads a network.
///
/// # Errors
/// Another form, lists of different lengths, a value that is no number, or too many cables; the message has the line.
pub fn astra_sim(bytes: &[u8], label: &str) -> Result<MachineBuilder, MachineError> {
    let tree = document(text(bytes, label)?, label)?;
    let dimensions = dimensions(&tree, label)?;
    let npus =
        dimensions.iter().try_fold(1usize, |all, d| all.checked_mul(d.size).filter(|&n| n <= super::LIMIT as usize));
    let per_npu: usize = dimensions.iter().map(|d| if d.form == "FullyConnected" { d.size } else { 2 }).sum();
    let Some(npus) = npus.filter(|npus| npus.saturating_mul(per_npu) <= super::LIMIT as usize) else {
        return line(label, tree.line, format!("more than {} cables", super::LIMIT));
    };
    let mut listed = ListedCables::default();
    let names: Vec<String> = (0..npus).map(|npu| format!("npu{npu}")).collect();
    if let [Dimension { form: "Switch", figures, .. }] = dimensions[..] {
        listed.add("switch", npus);
        let options = EdgeListOptions { terminal: figures, ..EdgeListOptions::default() };
        let (mut builder, place) = listed.build(label, options)?;
        builder.assumptions.retain(|known| known.key != NIC_BANDWIDTH);
        name_nodes(&mut builder, &place, &[names]);
        return Ok(builder);
    }
    names.iter().for_each(|name| listed.add(name, 1));
    let mut stride = 1;
    for (d, dimension) in dimensions.iter().enumerate() {
        let size = dimension.size;
        let mut switches = 0;
        for first in (0..npus).filter(|npu| npu / stride % size == 0) {
            let of_line: Vec<&str> = (0..size).map(|at| names[first + at * stride].as_str()).collect();
            let switch = format!("dim{d}switch{switches}");
            let ends: Vec<[&str; 2]> = match dimension.form {
                "Ring" if size < 3 => of_line.windows(2).map(|pair| [pair[0], pair[1]]).collect(),
                "Ring" => (0..size).map(|at| [of_line[at], of_line[(at + 1) % size]]).collect(),
                "Switch" => of_line.iter().map(|npu| [*npu, switch.as_str()]).collect(),
                _ => (0..size)
                    .flat_map(|a| (a + 1..size).map(move |b| (a, b)))
                    .map(|(a, b)| [of_line[a], of_line[b]])
                    .collect(),
            };
            if dimension.form == "Switch" {
                listed.add(&switch, 0);
                switches += 1;
            }
            for ends in ends {
                listed.join(tree.line, ends);
                listed.columns.class.push(format!("dim{d}"));
                listed.columns.bandwidth.push(dimension.figures.bandwidth);
                listed.columns.latency.push(dimension.figures.latency);
            }
        }
        stride *= size;
    }
    let (mut builder, _) = listed.build(label, EdgeListOptions::default())?;
    builder.reading.push("every NPU is a router with one node".into());
    Ok(builder)
}

fn dimensions(tree: &LocatedValue, label: &str) -> Result<Vec<Dimension>, MachineError> {
    let forms = tree.need(label, "topology")?.items(label, "topology")?;
    let list = |name: &str| {
        let list = tree.need(label, name)?;
        let items = list.items(label, name)?;
        match items.len() == forms.len() && !forms.is_empty() {
            true => Ok(items),
            false => {
                line(label, list.line, format!("{} values of {name}; 'topology' has {}", items.len(), forms.len()))
            }
        }
    };
    let (sizes, rates, latencies) = (list("npus_count")?, list("bandwidth")?, list("latency")?);
    let number = |value: &LocatedValue, name: &str| {
        let word = value.text(label, name)?;
        word.parse::<f64>().or_else(|_| line(label, value.line, format!("{name}: '{word}'; expected a number")))
    };
    let mut found = Vec::new();
    for (d, form) in forms.iter().enumerate() {
        let word = form.text(label, "topology")?;
        let Some(form) = FORMS.into_iter().find(|known| *known == word) else {
            let hint = odonata_declare::hint(word, FORMS);
            return line(label, form.line, format!("'{word}'; expected Ring, FullyConnected or Switch{hint}"));
        };
        let size = sizes[d].text(label, "npus_count")?;
        let Some(size) = size.parse::<usize>().ok().filter(|&size| size > 1) else {
            return line(label, sizes[d].line, format!("npus_count: '{size}'; expected a whole number from 2"));
        };
        let bandwidth = entries::rate(number(&rates[d], "bandwidth")? * 1e9);
        let latency = entries::latency(number(&latencies[d], "latency")? * 1e-9);
        let (Some(bandwidth), Some(latency)) = (bandwidth, latency) else {
            return line(label, rates[d].line, "a bandwidth in GB/s and a latency in ns that no link has");
        };
        found.push(Dimension { form, size, figures: LinkFigures { bandwidth, latency } });
    }
    Ok(found)
}
