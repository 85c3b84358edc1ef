//! The structure of a machine beyond its graph.

/// The routers inside one group of a [`Shape::Grouped`] machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupInterior {
    /// Every router has a cable to every other (canonical dragonfly).
    AllToAll,
    /// Rows x columns; all-to-all along each row and along each column (Cray Cascade).
    Grid {
        /// Rows (chassis of a Cascade group).
        rows: u32,
        /// Columns (slots of a chassis).
        columns: u32,
    },
    /// Any connected graph.
    Other,
}

/// The structure that routing may rely on. Faults and edits may have removed cables of the regular structure, so
/// routing checks the cables that it uses. The numbering of the routers always holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Groups with cables inside and between. Routers are numbered group by group. With groups of one size, router =
    /// group * routers_per_group + local index; a grid interior implies one size.
    Grouped {
        /// Number of groups.
        groups: u32,
        /// Routers in each group, or in the largest.
        routers_per_group: u32,
        /// The wiring inside a group.
        interior: GroupInterior,
    },
    /// Torus or mesh; router = mixed-radix number of its coordinates, the last dimension fastest.
    Torus {
        /// Size of each dimension.
        dims: Vec<u32>,
        /// Whether each dimension wraps around.
        wrap: Vec<bool>,
    },
    /// Tree of `levels` levels, level 0 at the nodes; up links lead one level up.
    FatTree {
        /// Number of router levels.
        levels: u32,
        /// Level of each router.
        level_of: Vec<u8>,
    },
    /// Any graph.
    Graph,
}
