//! The configuration text of the CODES simulator ("LPGROUPS { ... } PARAMS { name="value"; ... }").
//!
//! | `modelnet_order` starts with | read as | from |
//! |---|---|---|
//! | `dragonfly` | [`Dragonfly`], circulant | `num_routers` a: p = h = a / 2, g = a h + 1 |
//! | `dragonfly_custom` | its two binary files, as [`damselfly()`](super::damselfly()) | `num_router_rows`, `num_router_cols`, `num_groups` |
//! | `dragonfly_dally` | its two binary files | `num_routers`, `num_groups` |
//! | `dragonfly_plus` | its two binary files; nodes at the routers without global cables | `num_router_leaf`, `num_router_spine` |
//! | `fattree` | [`Xgft`], below; `num_rails` is the number of planes | `switch_radix`, `switch_count`, `num_levels` 2 or 3, `ft_type` 0 or 1 |
//! | `slimfly` | [`SlimFly`] | `num_routers` q, `num_terminals` |
//! | `torus` | [`Torus`] | `dim_length`; its first dimension is the fastest, so it is the last one here |
//! | `express_mesh` | below | `dim_length`, `gap`, `num_cn` |
//!
//! A fat tree of k ports, e edge switches and three levels has P = e / (k / 2) pods. With type 0, r = floor(k / P)
//! cables lead from a pod's switch to each of its ceil(k^2 / 4 / r) top switches, selected by the switch's place in
//! the pod. With type 1, two cables lead to each of e / 2 top switches. Some ports may stay free.
//!
//! In an express mesh, two routers of a line are joined if they are neighbours or 1 + i `gap` apart, i = 1, 2, ... With
//! gap 1, these are the cables of a HyperX.
//!
//! Files that a configuration names are relative to it. CODES names its own relative to the folder of its build, so a
//! file that is not there may also lie next to the configuration. The links of a `link-failure-file` are removed. Bandwidths are in GiB/s. Buffers, routing, packet sizes and delays
//! are not read, since they belong to the engine.

use super::edge_columns::{EdgeListColumns, EdgeListOptions};
use super::edge_list::build;
use super::entries::{set, set_bandwidth, Entries, Entry};
use super::format::FormatError;
use super::{codes_failures, damselfly, line, text, DamselflyParameters, IntraLayout, Listing, WiringFile};
use crate::builder::keep_marked;
use crate::topology::{Arrangement, Dragonfly, SlimFly, Torus, Xgft};
use crate::{Coordinates, MachineBuilder, MachineError, RailSettings, RouterPorts};
use odonata_declare::{OneOrEach, Reader};
use odonata_units::{Rate, RouterId};
use std::collections::BTreeSet;
use std::path::Path;

const GIB_PER_S: f64 = (1u64 << 30) as f64;

const MODELS: &str = "expected dragonfly, dragonfly_custom, dragonfly_dally, dragonfly_plus, express_mesh, fattree, \
    slimfly or torus";

/// Reads a configuration of CODES; the files that it names are relative to it.
///
/// # Errors
/// A text of another form, a model without a machine, a missing or wrong number, several rails or planes, or a wiring
/// file that can't be read.
pub fn codes_conf(bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
    machine(&params(text(bytes, label)?, label)?, files)
}

/// The machine of a PARAMS section.
pub(super) fn machine(params: &Entries<'_>, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
    let model = params.required("modelnet_order")?.value.split(',').next().unwrap_or("").trim().to_owned();
    let rails = params.count_or("num_rails", 1)?;
    if params.count_or("num_planes", 1)? > 1 || rails > 1 && model != "fattree" {
        let several = if rails > 1 { "num_rails" } else { "num_planes" };
        params.refuse(
            several,
            format!("only one network of {model} can be read: write 1 here, and `planes` or `rails` in [machine]"),
        )?;
    }
    let mut builder = match model.as_str() {
        "dragonfly" => dragonfly(params)?,
        "dragonfly_custom" => {
            let (rows, columns) = (params.count("num_router_rows", 1)?, params.count("num_router_cols", 1)?);
            wired(params, rows, columns, &[IntraLayout::Triples, IntraLayout::Pairs], files)?
        }
        "dragonfly_dally" => {
            let routers = params.count("num_routers", 1)?;
            wired(params, 1, routers, &[IntraLayout::Pairs, IntraLayout::Triples], files)?
        }
        "dragonfly_plus" => dragonfly_plus(params, files)?,
        "fattree" => fat_tree(params)?,
        "slimfly" => slim_fly(params)?,
        "torus" => torus(params)?,
        "express_mesh" => express_mesh(params)?,
        _ => params.refuse("modelnet_order", format!("unknown model '{model}'; {MODELS}"))?,
    };
    builder.assumptions.clear();
    for class in builder.classes.clone() {
        let key = match (model.as_str(), class.name.as_str()) {
            ("fattree" | "torus" | "express_mesh", _) => "link_bandwidth",
            (_, "global" | "blue") => "global_bandwidth",
            _ => "local_bandwidth",
        };
        if params.get(key).is_none() {
            builder.assume_bandwidth(&class.name, &format!("the file has no {key}"));
        }
    }
    if model == "torus" || params.get("cn_bandwidth").is_none() {
        builder.assume_bandwidth("terminal", "the file has no cn_bandwidth");
    }
    link_failures(params, &mut builder, files)?;
    if let Err(error) = builder.add_rails(RailSettings { planes: rails, ..RailSettings::default() }) {
        params.refuse("num_rails", error.to_string())?;
    }
    params.label.clone_into(&mut builder.name);
    Ok(builder)
}

/// The entries of the PARAMS section, on one line or on many.
fn params<'a>(text: &'a str, label: &'a str) -> Result<Entries<'a>, MachineError> {
    let mut found: Option<Entries<'a>> = None;
    let mut inside = false;
    for (at, content) in (1..).zip(text.lines()) {
        let mut content = content.split('#').next().unwrap_or("").trim();
        if !inside {
            let Some(rest) = content.split_once("PARAMS").filter(|(before, _)| ends_section(before)) else { continue };
            content = rest.1.trim_start();
            if !content.is_empty() && !content.starts_with('{') {
                continue;
            }
            found = Some(Entries { label, line: at, entries: Vec::new() });
            inside = true;
        }
        let Some(params) = found.as_mut() else { continue };
        let (own, after) = closing(content).map_or((content, None), |end| (&content[..end], Some(&content[end + 1..])));
        // A statement may have no semicolon; several may share a line.
        for statement in own.trim_start_matches('{').split(';').map(str::trim).filter(|own| !own.is_empty()) {
            let Some((name, value)) = statement.split_once('=') else {
                return line(label, at, format!("expected 'name=\"value\";', found '{statement}'"));
            };
            let value = value.trim().trim_start_matches('(').trim_end_matches(')').replace('"', "");
            params.entries.push(Entry { line: at, name: name.trim().into(), value: value.trim().to_owned() });
        }
        inside = after.is_none();
    }
    found.map_or_else(|| line(label, 1, "there is no section PARAMS; expected a configuration of CODES"), Ok)
}

/// The bracket that ends a section; one in a value (`"${NAME}"`) does not.
fn closing(content: &str) -> Option<usize> {
    let mut quoted = false;
    content.char_indices().find_map(|(at, c)| {
        quoted ^= c == '"';
        (c == '}' && !quoted).then_some(at)
    })
}

/// Whether a section may start after this.
fn ends_section(before: &str) -> bool {
    before.trim_end().is_empty() || before.trim_end().ends_with('}')
}

/// Local, global and node bandwidth.
fn bandwidths(params: &Entries<'_>) -> Result<[Option<Rate>; 3], MachineError> {
    let [local, global, node] = ["local_bandwidth", "global_bandwidth", "cn_bandwidth"];
    Ok([params.rate(local, GIB_PER_S)?, params.rate(global, GIB_PER_S)?, params.rate(node, GIB_PER_S)?])
}

fn dragonfly(params: &Entries<'_>) -> Result<MachineBuilder, MachineError> {
    let a = params.count("num_routers", 2)?;
    if a % 4 != 0 {
        return params.refuse(
            "num_routers",
            format!("{a} routers in a group have {} global ports each; expected a multiple of 4", a / 2),
        );
    }
    // The ports of a router lead alternately up and down by 1, 2, … groups, to the router with the same number.
    let mut family = Dragonfly { p: a / 2, a, h: a / 2, arrangement: Arrangement::Circulant, ..Dragonfly::default() };
    family.g = a.saturating_mul(a / 2).saturating_add(1);
    for (figures, bandwidth) in
        [&mut family.local, &mut family.global, &mut family.terminal].into_iter().zip(bandwidths(params)?)
    {
        set(figures, bandwidth, None);
    }
    family.builder()
}

/// A file that an entry names.
struct NamedFile {
    bytes: Vec<u8>,
    path: String,
    /// Says that it lies elsewhere than the entry has it.
    reading: Option<String>,
}

/// Reads a file that an entry names, relative to the configuration or next to it.
fn read_named_file(params: &Entries<'_>, name: &str, files: &mut dyn Reader) -> Result<NamedFile, FormatError> {
    let directory = Path::new(params.label).parent().unwrap_or_else(|| Path::new(""));
    let written = &params.required(name)?.value;
    let path = directory.join(written).to_string_lossy().into_owned();
    let reason = match files.read(&path) {
        Ok(bytes) => return Ok(NamedFile { bytes, path, reading: None }),
        Err(reason) => reason,
    };
    let last = Path::new(written).file_name().map(|last| directory.join(last).to_string_lossy().into_owned());
    let Some(near) = last.filter(|last| *last != path) else {
        return Ok(params.refuse(name, format!("{path} can't be read: {reason}"))?);
    };
    match files.read(&near) {
        Ok(bytes) => {
            let reading = Some(format!("{near} is read for {written}"));
            Ok(NamedFile { bytes, path: near, reading })
        }
        Err(_) => {
            let template = if written.contains("${") || written.contains('@') { ", a name of a template" } else { "" };
            let reason = format!("{path} can't be read: {reason}{template}; nor is there {near}");
            Ok(params.refuse(name, reason)?)
        }
    }
}

/// Removes the links of the file of failed links, if the configuration names one.
fn link_failures(
    params: &Entries<'_>,
    builder: &mut MachineBuilder,
    files: &mut dyn Reader,
) -> Result<(), FormatError> {
    let name = "link-failure-file";
    if params.get(name).is_none_or(|entry| entry.value.is_empty()) {
        return Ok(());
    }
    let file = read_named_file(params, name, files)?;
    builder.reading.extend(file.reading);
    Ok(codes_failures::fail(builder, &file.bytes, &file.path)?)
}

/// A machine of two wiring files with groups of `rows` x `columns` routers.
fn wired(
    params: &Entries<'_>,
    rows: u32,
    columns: u32,
    layouts: &[IntraLayout; 2],
    files: &mut dyn Reader,
) -> Result<MachineBuilder, FormatError> {
    let groups = params.count("num_groups", 1)?;
    let nodes_per_router = params.count("num_cns_per_router", 1)?;
    let named = [
        read_named_file(params, "intra-group-connections", files)?,
        read_named_file(params, "inter-group-connections", files)?,
    ];
    let [intra, inter] = [&named[0], &named[1]].map(|file| WiringFile { bytes: &file.bytes, label: &file.path });
    let read = |intra_layout| {
        let sizes = DamselflyParameters { groups, rows, columns, nodes_per_router, cores_per_node: 1, intra_layout };
        damselfly(intra, inter, &sizes)
    };
    // Versions of the simulator differ in whether an entry has a type; only one of the two layouts fits a file.
    let mut builder = read(layouts[0]).or_else(|first| read(layouts[1]).map_err(|_| first))?;
    let [local, global, node] = bandwidths(params)?;
    for class in ["local", "green", "black"] {
        set_bandwidth(&mut builder, class, local);
    }
    for class in ["global", "blue"] {
        set_bandwidth(&mut builder, class, global);
    }
    set_bandwidth(&mut builder, "terminal", node);
    builder.reading.extend(named.into_iter().filter_map(|file| file.reading));
    Ok(builder)
}

fn dragonfly_plus(params: &Entries<'_>, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
    let (leaves, spines) = (params.count("num_router_leaf", 1)?, params.count("num_router_spine", 1)?);
    let size = leaves.saturating_add(spines);
    let mut builder = wired(params, 1, size, &[IntraLayout::Pairs, IntraLayout::Triples], files)?;
    // Spines have the global cables, and the other routers have the nodes.
    let group = |router: RouterId| router.0 / size;
    let between = builder.cables.iter().filter(|cable| group(cable.a) != group(cable.b));
    let spine: BTreeSet<u32> = between.flat_map(|cable| [cable.a.0 % size, cable.b.0 % size]).collect();
    if spine.len() > spines as usize {
        let reason =
            format!("{} routers of a group have cables to other groups; only the {spines} spines may", spine.len());
        params.refuse("num_router_spine", reason)?;
    }
    // Spines without a global cable: those not joined to another spine are identified by their leaves.
    let first_is_leaf = !spine.contains(&0);
    let is_leaf = |local: u32| if first_is_leaf { local < leaves } else { local >= spines };
    if let Some(wrong) = spine.iter().find(|&&local| is_leaf(local)) {
        params
            .refuse("num_router_leaf", format!("router {wrong} of a group is a leaf and has cables to other groups"))?;
    }
    let keep: Vec<bool> = builder.node_router.iter().map(|router| is_leaf(router.0 % size)).collect();
    keep_marked(&mut builder.node_router, &keep);
    keep_marked(&mut builder.node_up, &keep);
    Ok(builder)
}

fn fat_tree(params: &Entries<'_>) -> Result<MachineBuilder, MachineError> {
    let (radix, edges) = (params.count("switch_radix", 2)?, params.count("switch_count", 1)?);
    let levels = params.count("num_levels", 2)?;
    let kind = params.count_or("ft_type", 1)?;
    if kind > 1 {
        return params.refuse("ft_type", format!("{kind}; a tree of type 0 or 1 is read"));
    }
    if radix % 2 != 0 {
        return params
            .refuse("switch_radix", format!("{radix}; half of the ports lead up, so expected an even number"));
    }
    let half = radix / 2;
    if params.count_or("tapering", 1)? > 1 {
        params.refuse("tapering", "a tree with fewer cables up than down is not read; expected 1")?;
    }
    // Subtrees below the top. For one place of a subtree: the switches above it, and the cables to each.
    let (mut children, mut parents, below, up, parallel) = match (levels, kind) {
        (2, _) if edges == half => (vec![half], vec![1], edges, edges / 2, 2),
        (2, _) => {
            let reason =
                format!("{edges} edge switches with two cables to each of {half} ports above; expected {half}");
            return params.refuse("switch_count", reason);
        }
        (3, _) if edges % half != 0 => {
            return params.refuse("switch_count", format!("{edges} edge switches do not fill pods of {half}"));
        }
        (3, 0) => {
            let pods = edges / half;
            let each = radix / pods;
            let top = if each == 0 { 0 } else { (half * half).div_ceil(each) };
            if top == 0 || top % half != 0 || top / half * each > half {
                let reason = format!("{pods} pods can't share top switches of {radix} ports evenly");
                return params.refuse("switch_count", reason);
            }
            (vec![half, half], vec![1, half], pods, top / half, each)
        }
        (3, _) => {
            let pods = edges / half;
            if pods > half || pods > 1 && pods % 2 != 0 {
                let reason = format!("{pods} pods in a tree of type 1; expected an even number up to {half}");
                return params.refuse("switch_count", reason);
            }
            (vec![half, half], vec![1, half], pods, (pods / 2).max(1), 2)
        }
        _ => return params.refuse("num_levels", format!("{levels}; expected 2 or 3")),
    };
    children.push(below);
    parents.push(up);
    let mut cables = vec![1; levels as usize - 1];
    *cables.last_mut().expect("two levels") = parallel;
    let mut family = Xgft { children, parents, parallel: OneOrEach::Each(cables), ..Xgft::default() };
    let link = params.rate("link_bandwidth", GIB_PER_S)?;
    set(&mut family.local, link, None);
    set(&mut family.global, link, None);
    set(&mut family.terminal, params.rate("cn_bandwidth", GIB_PER_S)?, None);
    let mut builder = crate::topology::Topology::lay_out(&family)?;
    builder.ports = Some(RouterPorts::of_all(radix));
    Ok(builder)
}

fn slim_fly(params: &Entries<'_>) -> Result<MachineBuilder, MachineError> {
    let mut family = SlimFly {
        q: params.count("num_routers", 2)?,
        nodes_per_router: params.count("num_terminals", 1)?,
        ..SlimFly::default()
    };
    for (figures, bandwidth) in
        [&mut family.local, &mut family.global, &mut family.terminal].into_iter().zip(bandwidths(params)?)
    {
        set(figures, bandwidth, None);
    }
    crate::topology::Topology::lay_out(&family)
}

fn torus(params: &Entries<'_>) -> Result<MachineBuilder, MachineError> {
    let mut dims = params.counts("dim_length")?;
    if params.count_or("n_dims", dims.len() as u32)? as usize != dims.len() {
        return params.refuse("n_dims", format!("'dim_length' has {} sizes", dims.len()));
    }
    dims.reverse();
    let mut family = Torus { dims, ..Torus::default() };
    set(&mut family.local, params.rate("link_bandwidth", GIB_PER_S)?, None);
    crate::topology::Topology::lay_out(&family)
}

fn express_mesh(params: &Entries<'_>) -> Result<MachineBuilder, MachineError> {
    let mut dims = params.counts("dim_length")?;
    let (gap, nodes) = (params.count("gap", 1)?, params.count("num_cn", 1)?);
    if params.count_or("n_dims", dims.len() as u32)? as usize != dims.len() {
        return params.refuse("n_dims", format!("'dim_length' has {} sizes", dims.len()));
    }
    dims.reverse();
    let routers = dims.iter().try_fold(1u32, |product, &size| product.checked_mul(size));
    let most = |routers: u32| u64::from(routers) * dims.iter().map(|&size| u64::from(size)).sum::<u64>();
    let routers = match routers {
        Some(routers) if most(routers).max(u64::from(routers) * u64::from(nodes)) <= u64::from(super::LIMIT) => routers,
        _ => {
            return params
                .refuse("dim_length", format!("{dims:?} with {nodes} nodes each are more than {}", super::LIMIT))
        }
    };
    let options = EdgeListOptions { nodes_per_router: nodes, listing: Listing::Cables, ..EdgeListOptions::default() };
    let mut columns =
        EdgeListColumns { axes: (0..dims.len()).map(|d| format!("x{d}")).collect(), ..Default::default() };
    let grid = Coordinates::grid(&vec!["x"; dims.len()], &dims);
    for from in (0..routers).map(RouterId) {
        let mut stride = routers;
        for (d, &size) in dims.iter().enumerate() {
            stride /= size;
            let at = grid.of(from)[d];
            for to in (at + 1..size).filter(|to| to - at == 1 || (to - at - 1) % gap == 0) {
                let to = RouterId(from.0 + (to - at) * stride);
                columns.src.push(from.0.to_string());
                columns.dst.push(to.0.to_string());
                columns.src_coordinates.extend(grid.of(from));
                columns.dst_coordinates.extend(grid.of(to));
            }
        }
    }
    if columns.src.is_empty() {
        return params.refuse("dim_length", "one router; an express mesh has several");
    }
    let lines = vec![params.line; columns.src.len()];
    let (mut builder, _) = build(&columns, &[], &options, params.label, "line", &lines)?;
    set_bandwidth(&mut builder, "local", params.rate("link_bandwidth", GIB_PER_S)?);
    set_bandwidth(&mut builder, "terminal", params.rate("cn_bandwidth", GIB_PER_S)?);
    Ok(builder)
}
