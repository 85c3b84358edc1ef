//! The structure of imported routers: numbering, groups, and the [`Shape`] of the wiring.
//!
//! Routers come in the order of the file, with coordinates, group numbers, or neither. They are renumbered as in the
//! families:
//!
//! * coordinates `group`, `row`, `column` or `group`, `router`: groups of equal size; a place without a router gets a
//!   failed one. Group numbers may have gaps.
//! * group numbers only: the same, with the routers of a group in the order of the file.
//! * other coordinates: by coordinates, the last axis fastest. The shape is a torus if they fill a grid and every
//!   cable is a step in one dimension. It is a fat tree if the axes are `level`, `pod`, `index` and every cable leads
//!   one level up.
//! * neither: groups are the connected parts without the cables of a class called `global` or `blue`, if this class
//!   exists and the parts have one size. Otherwise a graph, in the order of the file.
//!
//! Whatever the file gives, the shape is a fat tree if the cables have the levels of a tree ([`crate::levels`]).

use crate::builder::keep_marked;
use crate::parts::parts;
use crate::{Cable, Coordinates, GroupInterior, LinkClass, MachineBuilder, Shape};
use odonata_units::{GroupId, LinkClassId, RouterId};
use std::collections::BTreeMap;

/// The routers of a file, in its order.
pub(super) struct Routers {
    /// Names of the axes; none if the file has no coordinates.
    pub(super) axes: Vec<String>,
    /// Value of router r on axis i at `values[r * axes.len() + i]`.
    pub(super) values: Vec<u32>,
    /// Group number of each router, where the file has groups but no coordinates.
    pub(super) groups: Option<Vec<u32>>,
    /// Names of the routers, or none. Numbers are names unless they are the ids.
    pub(super) names: Vec<String>,
    /// Nodes of each router.
    pub(super) nodes: Vec<u32>,
}

/// The renumbered routers.
struct Layout {
    coordinates: Coordinates,
    group_of: Vec<GroupId>,
    /// New id of each router of the file.
    place: Vec<RouterId>,
    shape: Shape,
}

/// Share of the cables of a regular structure that must exist to accept it. A machine has few faults; a lower share
/// would accept other structures.
const REGULAR: f64 = 0.9;

/// Numbers the routers and finds the shape. Also returns the new id of each router of the file. The error describes
/// wrong coordinates.
pub(super) fn assemble(
    name: &str,
    routers: Routers,
    mut classes: Vec<LinkClass>,
    terminal: LinkClass,
    cores_per_node: u32,
    mut cables: Vec<Cable>,
) -> Result<(MachineBuilder, Vec<RouterId>), String> {
    let count = routers.nodes.len();
    if count == 0 {
        return Err("there are no routers".into());
    }
    if routers.nodes.iter().map(|&n| u64::from(n)).sum::<u64>() > u64::from(super::LIMIT) {
        return Err(format!("more than {} nodes", super::LIMIT));
    }
    drop_unused(&mut classes, &mut cables);
    let mut layout = lay_out(&routers, &classes, &cables)?;
    for cable in &mut cables {
        cable.a = layout.place[cable.a.index()];
        cable.b = layout.place[cable.b.index()];
    }
    let places = layout.group_of.len();
    let mut router_up = vec![false; places];
    let mut nodes = vec![0; places];
    let mut names = Vec::new();
    let is_id = |(name, place): (&String, &RouterId)| *name == place.0.to_string();
    if !routers.names.iter().zip(&layout.place).all(is_id) {
        names = (0..places).map(|place| format!("absent{place}")).collect();
    }
    for (router, place) in layout.place.iter().enumerate() {
        router_up[place.index()] = true;
        nodes[place.index()] = routers.nodes[router];
        if let (Some(name), Some(own)) = (routers.names.get(router), names.get_mut(place.index())) {
            own.clone_from(name);
        }
    }
    layout.coordinates.names = names;
    let node_router: Vec<RouterId> = nodes
        .iter()
        .enumerate()
        .flat_map(|(router, &n)| std::iter::repeat_n(RouterId::from_index(router), n as usize))
        .collect();
    let Layout { coordinates, group_of, shape, place } = layout;
    let shape = refine(shape, &coordinates, &cables);
    let builder = MachineBuilder::without_cables(
        name.into(),
        shape,
        coordinates,
        group_of,
        node_router,
        terminal,
        cores_per_node,
    );
    let mut builder = MachineBuilder { classes, router_up, cables, ..builder };
    builder.count_cables();
    if !matches!(builder.shape, Shape::FatTree { .. }) {
        builder.take_levels();
    }
    Ok((builder, place))
}

impl MachineBuilder {
    /// Says how many cables a file has, before all else that its reader found.
    pub fn count_cables(&mut self) {
        let mut pairs: Vec<_> = self.cables.iter().map(|cable| (cable.a.min(cable.b), cable.a.max(cable.b))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let phrase = match self.cables.len() {
            0 => NO_CABLES.into(),
            count => format!("{count} cables between {} {COUNTED}", pairs.len()),
        };
        if !self.reading.iter().any(|phrase| phrase == NO_CABLES || phrase.ends_with(COUNTED)) {
            self.reading.insert(0, phrase);
        }
    }
}

/// End of the phrase that counts cables.
const COUNTED: &str = "pairs of routers";
const NO_CABLES: &str = "one router, no cables";

/// Removes the classes without cables and without ports for them.
fn drop_unused(classes: &mut Vec<LinkClass>, cables: &mut [Cable]) {
    let mut used: Vec<bool> =
        classes.iter().map(|class| class.ports_per_router.is_some_and(|ports| ports > 0)).collect();
    cables.iter().for_each(|cable| used[cable.class.index()] = true);
    let before = |class: LinkClassId| used[..class.index()].iter().filter(|&&used| used).count();
    cables.iter_mut().for_each(|cable| cable.class = LinkClassId::from_index(before(cable.class)));
    keep_marked(classes, &used);
}

fn lay_out(routers: &Routers, classes: &[LinkClass], cables: &[Cable]) -> Result<Layout, String> {
    let axes: Vec<&str> = routers.axes.iter().map(String::as_str).collect();
    match axes[..] {
        ["group", "row", "column"] | ["group", "router_in_group"] => in_groups(routers),
        [] => {
            let groups = routers.groups.clone().or_else(|| parts_without_global(routers.nodes.len(), classes, cables));
            match groups {
                Some(groups) => in_groups(&numbered_in_groups(&groups)),
                None => Ok(as_graph(routers.nodes.len())),
            }
        }
        _ => by_coordinates(routers),
    }
}

/// Coordinates `group`, `router` from group numbers: the order of the file inside a group.
fn numbered_in_groups(groups: &[u32]) -> Routers {
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    let mut values = Vec::with_capacity(2 * groups.len());
    for &group in groups {
        let next = seen.entry(group).or_default();
        values.extend([group, *next]);
        *next += 1;
    }
    let axes = vec!["group".into(), "router_in_group".into()];
    Routers { axes, values, groups: None, names: Vec::new(), nodes: vec![0; groups.len()] }
}

/// Places routers of groups of equal size; the first axis is the group.
fn in_groups(routers: &Routers) -> Result<Layout, String> {
    let n = routers.axes.len();
    let mut groups: Vec<u32> = routers.values.iter().copied().step_by(n).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut sizes = vec![groups.len() as u32];
    for axis in 1..n {
        let most = routers.values.iter().skip(axis).step_by(n).max().copied().unwrap_or(0);
        sizes.push(most.saturating_add(1));
    }
    let places: u64 = sizes.iter().map(|&s| u64::from(s)).try_fold(1u64, u64::checked_mul).unwrap_or(u64::MAX);
    // A wrong number among the coordinates would create very many absent routers.
    if places > 64 * routers.nodes.len() as u64 + 4096 {
        return Err(format!(
            "{} routers are spread over {places} places ({sizes:?}); is a coordinate wrong?",
            routers.nodes.len()
        ));
    }
    let axes: Vec<&str> = routers.axes.iter().map(String::as_str).collect();
    let coordinates = Coordinates::grid(&axes, &sizes);
    let mut taken = vec![false; places as usize];
    let mut place = Vec::with_capacity(routers.nodes.len());
    for values in routers.values.chunks(n) {
        let group = groups.binary_search(&values[0]).expect("every group is listed");
        let at = values[1..].iter().zip(&sizes[1..]).fold(group, |at, (&v, &size)| at * size as usize + v as usize);
        if std::mem::replace(&mut taken[at], true) {
            let names: Vec<String> = routers.axes.iter().zip(values).map(|(a, v)| format!("{a} {v}")).collect();
            return Err(format!("two routers are at {}", names.join(", ")));
        }
        place.push(RouterId::from_index(at));
    }
    let routers_per_group: u32 = sizes[1..].iter().product();
    let interior =
        if n == 3 { GroupInterior::Grid { rows: sizes[1], columns: sizes[2] } } else { GroupInterior::AllToAll };
    Ok(Layout {
        coordinates,
        group_of: (0..places as u32).map(|router| GroupId(router / routers_per_group)).collect(),
        place,
        shape: Shape::Grouped { groups: sizes[0], routers_per_group, interior },
    })
}

/// The connected parts without the cables of the class `global` or `blue`, if there are several of one size.
fn parts_without_global(routers: usize, classes: &[LinkClass], cables: &[Cable]) -> Option<Vec<u32>> {
    let global = classes.iter().position(|class| class.name == "global" || class.name == "blue")?;
    let inside = cables.iter().filter(|cable| cable.class.index() != global);
    let part = parts(routers, inside.map(|cable| (cable.a.0, cable.b.0)));
    let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
    for &p in &part {
        *sizes.entry(p).or_default() += 1;
    }
    let first = sizes.values().next().copied()?;
    (sizes.len() > 1 && first > 1 && sizes.values().all(|&size| size == first)).then_some(part)
}

fn as_graph(routers: usize) -> Layout {
    Layout {
        coordinates: Coordinates::default(),
        group_of: vec![GroupId(0); routers],
        place: (0..routers as u32).map(RouterId).collect(),
        shape: Shape::Graph,
    }
}

/// Sorts routers by their coordinates; groups are the values of an axis called `group` or `pod`, if there is one.
fn by_coordinates(routers: &Routers) -> Result<Layout, String> {
    let n = routers.axes.len();
    let of = |router: usize| &routers.values[router * n..(router + 1) * n];
    let mut order: Vec<usize> = (0..routers.nodes.len()).collect();
    order.sort_by_key(|&router| of(router));
    if let Some(twice) = order.windows(2).find(|pair| of(pair[0]) == of(pair[1])) {
        return Err(format!("two routers are at {:?} of {:?}", of(twice[0]), routers.axes));
    }
    let mut place = vec![RouterId(0); order.len()];
    let mut values = Vec::with_capacity(routers.values.len());
    for (at, &router) in order.iter().enumerate() {
        place[router] = RouterId::from_index(at);
        values.extend_from_slice(of(router));
    }
    let sizes =
        (0..n).map(|axis| values.iter().skip(axis).step_by(n).max().map_or(1, |&v| v.saturating_add(1))).collect();
    let coordinates = Coordinates { axes: routers.axes.clone(), sizes, values, ..Coordinates::default() };
    let mut group_of = vec![GroupId(0); order.len()];
    if let Some(axis) = routers.axes.iter().position(|axis| axis == "group" || axis == "pod") {
        let mut known: Vec<u32> = coordinates.values.iter().copied().skip(axis).step_by(n).collect();
        known.sort_unstable();
        known.dedup();
        for (router, group) in group_of.iter_mut().enumerate() {
            let value = coordinates.values[router * n + axis];
            *group = GroupId::from_index(known.binary_search(&value).expect("every group is listed"));
        }
    }
    Ok(Layout { coordinates, group_of, place, shape: Shape::Graph })
}

/// The shape, if the cables confirm it; otherwise a graph.
fn refine(shape: Shape, coordinates: &Coordinates, cables: &[Cable]) -> Shape {
    match shape {
        Shape::Grouped { groups, routers_per_group, interior } => {
            let interior =
                if has_interior(interior, groups, routers_per_group, cables) { interior } else { GroupInterior::Other };
            Shape::Grouped { groups, routers_per_group, interior }
        }
        _ => as_fat_tree(coordinates, cables).or_else(|| as_torus(coordinates, cables)).unwrap_or(shape),
    }
}

/// Whether the cables inside groups form `interior`, except a few.
fn has_interior(interior: GroupInterior, groups: u32, size: u32, cables: &[Cable]) -> bool {
    let mut pairs: Vec<(u32, u32)> = cables
        .iter()
        .filter(|cable| cable.a.0 / size == cable.b.0 / size)
        .map(|cable| (cable.a.0.min(cable.b.0), cable.a.0.max(cable.b.0)))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let per_group = match interior {
        GroupInterior::AllToAll => u64::from(size) * u64::from(size - 1) / 2,
        GroupInterior::Grid { rows, columns } => {
            let along = |(a, b): (u32, u32)| {
                let (a, b) = (a % size, b % size);
                a / columns == b / columns || a % columns == b % columns
            };
            if !pairs.iter().copied().all(along) {
                return false;
            }
            u64::from(size) * u64::from(rows + columns - 2) / 2
        }
        GroupInterior::Other => return true,
    };
    pairs.len() as f64 >= REGULAR * (u64::from(groups) * per_group) as f64
}

/// A fat tree, if it has the axes of a fat tree and every cable joins adjacent levels.
fn as_fat_tree(coordinates: &Coordinates, cables: &[Cable]) -> Option<Shape> {
    if coordinates.axes != ["level", "pod", "index"] || coordinates.sizes[0] > 20 {
        return None;
    }
    let level_of: Vec<u8> = coordinates.values.iter().step_by(3).map(|&level| level as u8).collect();
    let level = |router: RouterId| level_of[router.index()];
    let adjacent = cables.iter().all(|cable| level(cable.a).abs_diff(level(cable.b)) == 1);
    adjacent.then(|| Shape::FatTree { levels: coordinates.sizes[0], level_of })
}

/// A torus or mesh, if the coordinates fill a grid and every cable is a step in one dimension.
fn as_torus(coordinates: &Coordinates, cables: &[Cable]) -> Option<Shape> {
    let dims = &coordinates.sizes;
    let n = dims.len();
    let full = dims.iter().try_fold(1usize, |product, &size| product.checked_mul(size as usize));
    if n == 0 || full != Some(coordinates.values.len() / n) || cables.is_empty() {
        return None;
    }
    let mut wrap = vec![false; n];
    // In a dimension of size 2, the wrap-around cable is a second cable between the same two routers.
    let mut pairs: BTreeMap<(RouterId, RouterId), u32> = BTreeMap::new();
    for cable in cables {
        let (a, b) = (coordinates.of(cable.a), coordinates.of(cable.b));
        let mut steps = (0..n).filter(|&d| a[d] != b[d]);
        let (d, None) = (steps.next()?, steps.next()) else { return None };
        match a[d].abs_diff(b[d]) {
            1 => {
                let parallel = pairs.entry((cable.a.min(cable.b), cable.a.max(cable.b))).or_default();
                *parallel += 1;
                wrap[d] |= dims[d] == 2 && *parallel == 2;
            }
            step if step + 1 == dims[d] => wrap[d] = true,
            _ => return None,
        }
    }
    Some(Shape::Torus { dims: dims.clone(), wrap })
}
