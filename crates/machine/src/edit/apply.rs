//! From edits to another builder.

use super::{CableChange, Edit, FigureChange};
use crate::builder::in_link_order;
use crate::names::unknown;
use crate::{LinkClass, MachineBuilder, MachineError};
use odonata_units::{LinkClassId, RouterId, Stream};

fn wrong<T>(edit: &Edit, reason: String) -> Result<T, MachineError> {
    Err(MachineError::Parameter { parameter: "edit".into(), reason: format!("'{edit}': {reason}") })
}

/// Applies edits in order. Names and ids of links mean the machine as it is before any of them. A failing link takes
/// its cable, hence both directions. Random faults draw from the streams `fail-cables` and `fail-routers` of `seed`,
/// told apart by the position of the edit.
///
/// # Errors
/// An unknown class, router or link; more cables removed than a router pair has; a fault of a cable that an earlier
/// edit has removed. A port budget exceeded is found when the machine is built.
pub fn apply(mut builder: MachineBuilder, edits: &[Edit], seed: u64) -> Result<MachineBuilder, MachineError> {
    if edits.is_empty() {
        return Ok(builder);
    }
    builder.cables = in_link_order(std::mem::take(&mut builder.cables));
    let named = named_cables(&builder, edits)?;
    // Position of every cable before the edits: what a name stands for while others come and go.
    let mut origin: Vec<u32> = (0..builder.cables.len() as u32).collect();
    for (position, (edit, named)) in edits.iter().zip(named).enumerate() {
        match edit {
            Edit::Cables(changes) => {
                for change in changes {
                    change_cables(&mut builder, &mut origin, edit, change)?;
                }
            }
            Edit::FailRouter(name) => {
                let router = builder.coordinates.router_named(name, builder.group_of.len())?;
                builder.router_up[router.index()] = false;
            }
            Edit::FailLink(_) => {
                let cable = named.expect("links were looked up before");
                let Some(at) = origin.iter().position(|&o| o == cable) else {
                    return wrong(edit, "an earlier edit has removed this cable already".into());
                };
                builder.cables.remove(at);
                origin.remove(at);
            }
            Edit::FailCables { class, fraction } => {
                let class = class_named(&builder, class)?;
                let stream = Stream::new(seed, "fail-cables", &[position as u64]);
                fail_cables(&mut builder, &mut origin, class, *fraction, stream);
            }
            Edit::FailRouters { fraction } => {
                let stream = Stream::new(seed, "fail-routers", &[position as u64]);
                let up: Vec<usize> = (0..builder.router_up.len()).filter(|&r| builder.router_up[r]).collect();
                for router in sample(up, *fraction, stream) {
                    builder.router_up[router] = false;
                }
            }
            Edit::Figure { class, change } => change_figure(&mut builder, edit, class, *change)?,
        }
    }
    Ok(builder)
}

fn class_named(builder: &MachineBuilder, name: &str) -> Result<LinkClassId, MachineError> {
    let position = builder.classes.iter().position(|class| class.name == name);
    position
        .map(LinkClassId::from_index)
        .ok_or_else(|| unknown("link class", name, builder.classes.iter().map(|class| class.name.as_str())))
}

/// For every [`Edit::FailLink`], the position of its cable; the cables are in link order.
fn named_cables(builder: &MachineBuilder, edits: &[Edit]) -> Result<Vec<Option<u32>>, MachineError> {
    if !edits.iter().any(|edit| matches!(edit, Edit::FailLink(_))) {
        return Ok(vec![None; edits.len()]);
    }
    let machine = builder.clone().build()?;
    edits
        .iter()
        .map(|edit| {
            let Edit::FailLink(name) = edit else { return Ok(None) };
            let link = machine.link_named(name)?;
            let (source, target) = (machine.source(link), machine.target(link));
            let key = (source.min(target), machine.class(link), source.max(target));
            let first = builder.cables.partition_point(|c| (c.a, c.class, c.b) < key);
            Ok(Some(first as u32 + u32::from(machine.parallel(link))))
        })
        .collect()
}

/// Adds to or takes from every joined router pair; the cables are and stay in link order.
fn change_cables(
    builder: &mut MachineBuilder,
    origin: &mut Vec<u32>,
    edit: &Edit,
    change: &CableChange,
) -> Result<(), MachineError> {
    const ADDED: u32 = u32::MAX;
    let class = class_named(builder, &change.class)?;
    let cables = std::mem::take(&mut builder.cables);
    let origins = std::mem::take(origin);
    if !cables.iter().any(|cable| cable.class == class) {
        let name = &change.class;
        return wrong(edit, format!("no two routers are joined by {name} cables, so there is nothing to change"));
    }
    let by_pair = |x: &crate::Cable, y: &crate::Cable| (x.a, x.class, x.b) == (y.a, y.class, y.b);
    let mut start = 0;
    for run in cables.chunk_by(by_pair) {
        let origins = &origins[start..start + run.len()];
        start += run.len();
        builder.cables.extend_from_slice(run);
        origin.extend_from_slice(origins);
        if run[0].class != class {
            continue;
        }
        if change.per_pair >= 0 {
            builder.add_cables(run[0].a, run[0].b, class, change.per_pair as u32);
            origin.resize(builder.cables.len(), ADDED);
            continue;
        }
        let taken = change.per_pair.unsigned_abs() as usize;
        if taken > run.len() {
            let name = |router: RouterId| builder.coordinates.router_name(router);
            return wrong(
                edit,
                format!(
                    "{taken} {} cables per router pair can't be removed: {} and {} have {}",
                    change.class,
                    name(run[0].a),
                    name(run[0].b),
                    run.len()
                ),
            );
        }
        builder.cables.truncate(builder.cables.len() - taken);
        origin.truncate(builder.cables.len());
    }
    Ok(())
}

/// Fails a fraction of the cables of a class that join two working routers.
fn fail_cables(builder: &mut MachineBuilder, origin: &mut Vec<u32>, class: LinkClassId, fraction: f64, stream: Stream) {
    let works = |r: RouterId| builder.router_up[r.index()];
    let of_class: Vec<usize> = (0..builder.cables.len())
        .filter(|&i| builder.cables[i].class == class && works(builder.cables[i].a) && works(builder.cables[i].b))
        .collect();
    let mut keep = vec![true; builder.cables.len()];
    for cable in sample(of_class, fraction, stream) {
        keep[cable] = false;
    }
    let mut kept = keep.iter();
    builder.cables.retain(|_| *kept.next().expect("a flag per cable"));
    let mut kept = keep.iter();
    origin.retain(|_| *kept.next().expect("a flag per cable"));
}

/// The nearest whole number of `items` to the fraction, each set of that size equally likely.
fn sample(mut items: Vec<usize>, fraction: f64, mut stream: Stream) -> Vec<usize> {
    let count = (items.len() as f64 * fraction).round() as usize;
    stream.shuffle(&mut items);
    items.truncate(count);
    items
}

fn change_figure(
    builder: &mut MachineBuilder,
    edit: &Edit,
    name: &str,
    change: FigureChange,
) -> Result<(), MachineError> {
    let terminal = builder.terminal.name == name;
    let class = if terminal {
        None
    } else {
        let known = builder.classes.iter().map(|class| class.name.as_str()).chain([builder.terminal.name.as_str()]);
        Some(class_named(builder, name).map_err(|_| unknown("link class", name, known))?)
    };
    let figures: &mut LinkClass = match class {
        Some(class) => &mut builder.classes[class.index()],
        None => &mut builder.terminal,
    };
    change.apply(&mut figures.bandwidth, &mut figures.latency);
    if let FigureChange::Ports(ports) = change {
        // The budget of all classes together grows or shrinks with that of one.
        let before = figures.ports_per_router.replace(ports);
        if let (Some(before), Some(all), false) = (before, builder.network_ports, terminal) {
            builder.network_ports = Some((all + ports).saturating_sub(before));
        }
    }
    if figures.bandwidth.bits_per_s() == 0 {
        return wrong(edit, format!("class {name} would have no bandwidth; a rate is above zero"));
    }
    for cable in builder.cables.iter_mut().filter(|cable| Some(cable.class) == class) {
        change.apply(&mut cable.bandwidth, &mut cable.latency);
    }
    Ok(())
}

impl FigureChange {
    fn apply(self, bandwidth: &mut odonata_units::Rate, latency: &mut odonata_units::Time) {
        match self {
            Self::Bandwidth(rate) => *bandwidth = rate,
            Self::BandwidthTimes(factor) => *bandwidth = bandwidth.scaled(factor),
            Self::Latency(time) => *latency = time,
            Self::LatencyTimes(factor) => latency.0 = (latency.0 as f64 * factor).round() as u64,
            Self::Ports(_) => {}
        }
    }
}
