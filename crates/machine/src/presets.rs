//! Machines by name: real ones with public figures, machines of the literature, and large ones.

mod blue_gene;

pub use blue_gene::Partition;

use crate::error::wrong;
use crate::names::unknown;
use crate::topology::{Cascade, Dragonfly, Extent, LinkFigures};
use crate::{FloorPlan, ForwardingKind, MachineBuilder, MachineError, RailRouters, RailSettings};
use blue_gene::BlueGene;

/// A machine with a name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name.
    pub name: &'static str,
    /// Description in one line.
    pub summary: &'static str,
    /// Source of the figures, and approximations.
    pub source: &'static str,
    /// Expected counts, from the source's figures or closed forms.
    pub declared: DeclaredCounts,
    wiring: Wiring,
}

/// The wiring of a preset.
#[derive(Clone, Copy, Debug)]
enum Wiring {
    /// Fixed.
    Fixed(fn() -> Result<MachineBuilder, MachineError>),
    /// Fixed, with several NICs per node.
    Rails(fn() -> Result<MachineBuilder, MachineError>, RailSettings),
    /// A Blue Gene that is divided into blocks.
    Block(fn() -> BlueGene),
}

/// Expected counts of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeclaredCounts {
    /// Routers.
    pub routers: usize,
    /// Nodes, unusable ones included.
    pub nodes: usize,
    /// Nodes that jobs can use.
    pub usable_nodes: usize,
    /// Directed links of each class.
    pub links: &'static [(&'static str, usize)],
}

impl DeclaredCounts {
    /// Routers, nodes and cables.
    pub fn extent(&self) -> Extent {
        let links: usize = self.links.iter().map(|(_, links)| links).sum();
        Extent { routers: self.routers as u64, nodes: self.nodes as u64, cables: links as u64 / 2 }
    }
}

impl Preset {
    /// The NICs of its nodes. [`builder`] gives each node one of them; [`MachineBuilder::add_rails`] adds the others.
    pub fn rails(&self) -> RailSettings {
        match self.wiring {
            Wiring::Rails(_, rails) => rails,
            Wiring::Fixed(_) | Wiring::Block(_) => RailSettings::default(),
        }
    }
}

/// NICs of a node at as many switches of its group.
const fn at_next_switches(rails: u32) -> RailSettings {
    RailSettings { planes: 1, rails, rail_routers: RailRouters::Next }
}

/// All presets, in the order of the reference.
pub fn names() -> &'static [Preset] {
    PRESETS
}

/// The preset called `name`.
///
/// # Errors
/// No such preset; the message names the nearest one.
pub fn find(name: &str) -> Result<&'static Preset, MachineError> {
    PRESETS
        .iter()
        .find(|preset| preset.name == name)
        .ok_or_else(|| unknown("preset", name, PRESETS.iter().map(|p| p.name)))
}

/// The machine of the preset called `name`, ready to edit and build.
///
/// # Errors
/// No such preset; the message names the nearest one.
pub fn builder(name: &str) -> Result<MachineBuilder, MachineError> {
    let preset = find(name)?;
    let mut builder = match preset.wiring {
        Wiring::Fixed(builder) | Wiring::Rails(builder, _) => builder()?,
        Wiring::Block(machine) => {
            MachineBuilder { forwarding: ForwardingKind::BlueGene, ..machine().whole().builder()? }
        }
    };
    builder.name = preset.name.into();
    Ok(builder)
}

/// A block of the preset called `name`, ready to edit and build.
///
/// # Errors
/// No such preset, a preset without blocks, or a block that does not fit.
pub fn block(name: &str, partition: &Partition) -> Result<MachineBuilder, MachineError> {
    let preset = find(name)?;
    let Wiring::Block(machine) = preset.wiring else {
        let blocks = PRESETS.iter().filter(|preset| matches!(preset.wiring, Wiring::Block(_)));
        let known: Vec<&str> = blocks.map(|preset| preset.name).collect();
        return wrong("partition", format!("'{name}' has no blocks; known: {}", known.join(", ")));
    };
    let torus = machine().block(partition)?;
    let mut builder = MachineBuilder { forwarding: ForwardingKind::BlueGene, ..torus.builder()? };
    let sizes: Vec<String> = torus.dims.iter().map(u32::to_string).collect();
    builder.name = format!("{}-{}", preset.name, sizes.join("x"));
    Ok(builder)
}

/// A Cray XC system whose routers are also known by their places in the cabinets.
fn in_cabinets(mut builder: MachineBuilder, floor: FloorPlan) -> MachineBuilder {
    builder.coordinates.floor = Some(floor);
    builder
}

const PRESETS: &[Preset] = &[
    Preset {
        name: "edison",
        summary: "Cray XC30 of NERSC: 15 groups of 6 x 16 Aries, 5,576 compute nodes of 24 cores",
        source: "cable list and figures published by NERSC, reproduced link for link; the slots of the 184 service \
            nodes are not public: spread evenly",
        declared: DeclaredCounts {
            routers: 1440,
            nodes: 5760,
            usable_nodes: 5576,
            links: &[("green", 21_600), ("black", 21_600), ("blue", 5_040)],
        },
        wiring: Wiring::Fixed(|| {
            // Four rows of 8 cabinets; the first two places of the last row are empty.
            let groups = (0..16).filter(|&group| group != 12).collect();
            let edison = Cascade { usable_nodes: Some(5576), ..Cascade::aries() };
            Ok(in_cabinets(edison.builder()?, FloorPlan { per_row: Some(8), groups }))
        }),
    },
    Preset {
        name: "eos",
        summary: "Cray XC30 of Oak Ridge: 2 groups, 744 compute nodes of 16 cores",
        source: "Gahvari et al. 2014 for nodes and cores; the cabling between the groups is not public: Edison's rule \
                 with all 16 columns as gateways; 24 service nodes spread evenly",
        declared: DeclaredCounts {
            routers: 192,
            nodes: 768,
            usable_nodes: 744,
            links: &[("green", 2_880), ("black", 2_880), ("blue", 384)],
        },
        wiring: Wiring::Fixed(|| {
            let two_groups = Cascade { groups: 2, gateway_columns: 8, ..Cascade::aries() };
            let eos = Cascade { usable_nodes: Some(744), cores_per_node: 16, ..two_groups };
            Ok(in_cabinets(eos.builder()?, FloorPlan::of_first_row(2)))
        }),
    },
    Preset {
        name: "theta",
        summary: "Cray XC40 of Argonne as first built: 9 groups, 3,240 compute nodes of 64 cores",
        source: "the CODES documentation of Theta: 864 routers and 3,456 nodes, of which 3,240 are compute nodes. \
            Its list of cables: four blue links of each router, 48 cables between every two groups. The routers \
            that they join follow Edison's rule; service nodes spread evenly",
        declared: DeclaredCounts {
            routers: 864,
            nodes: 3456,
            usable_nodes: 3240,
            links: &[("green", 12_960), ("black", 12_960), ("blue", 3_456)],
        },
        wiring: Wiring::Fixed(|| {
            let nine_groups = Cascade { groups: 9, gateway_columns: 2, ..Cascade::aries() };
            let theta = Cascade { usable_nodes: Some(3240), cores_per_node: 64, ..nine_groups };
            Ok(in_cabinets(theta.builder()?, FloorPlan::of_first_row(9)))
        }),
    },
    Preset {
        name: "theta-2019",
        summary: "Cray XC40 of Argonne from 2019: 12 groups, 4,392 compute nodes of 64 cores; 48 cables per group pair are assumed",
        source: "Argonne's page on the machine: 24 racks, 4,392 compute nodes, two racks per group. The cables between \
            groups are not published: assumed as in the first-built one, 48 between every two groups by Edison's rule; \
            service nodes spread evenly",
        declared: DeclaredCounts {
            routers: 1152,
            nodes: 4608,
            usable_nodes: 4392,
            links: &[("green", 17_280), ("black", 17_280), ("blue", 6_336)],
        },
        wiring: Wiring::Fixed(|| {
            let twelve_groups = Cascade { groups: 12, gateway_columns: 2, ..Cascade::aries() };
            let theta = Cascade { usable_nodes: Some(4392), cores_per_node: 64, ..twelve_groups };
            Ok(in_cabinets(theta.builder()?, FloorPlan::of_first_row(12)))
        }),
    },
    Preset {
        name: "piz-daint",
        summary: "Cray XC30 of CSCS as of 2013: 14 groups, 5,272 compute nodes of 8 cores and a GPU",
        source:
            "28 cabinets and 5,272 nodes as published; the blue cabling by Edison's rule; service nodes spread evenly",
        declared: DeclaredCounts {
            routers: 1344,
            nodes: 5376,
            usable_nodes: 5272,
            links: &[("green", 20_160), ("black", 20_160), ("blue", 4_368)],
        },
        wiring: Wiring::Fixed(|| {
            let daint = Cascade { groups: 14, usable_nodes: Some(5272), cores_per_node: 8, ..Cascade::aries() };
            Ok(in_cabinets(daint.builder()?, FloorPlan::of_first_row(14)))
        }),
    },
    Preset {
        name: "cascade-241",
        summary: "The largest Cascade: 241 groups, 23,136 routers, 92,544 nodes of 24 cores",
        source: "Faanes et al. 2012; one gateway pair of cables per group pair, which uses every blue port",
        declared: DeclaredCounts {
            routers: 23_136,
            nodes: 92_544,
            usable_nodes: 92_544,
            links: &[("green", 347_040), ("black", 347_040), ("blue", 231_360)],
        },
        wiring: Wiring::Fixed(|| Cascade { groups: 241, ..Cascade::aries() }.builder()),
    },
    Preset {
        name: "dragonfly-1056",
        summary: "Canonical dragonfly, 1,056 nodes: p = 4, a = 8, h = 4, g = 33",
        source: "Kang et al. 2022: 25 GB/s; local 30 ns, global 300 ns, terminal 10 ns; absolute arrangement",
        declared: DeclaredCounts {
            routers: 264,
            nodes: 1056,
            usable_nodes: 1056,
            links: &[("local", 1_848), ("global", 1_056)],
        },
        wiring: Wiring::Fixed(|| Dragonfly::default().builder()),
    },
    Preset {
        name: "dragonfly-2550",
        summary: "Canonical dragonfly, 2,550 nodes: p = 5, a = 10, h = 5, g = 51",
        source: "the larger platform of the Q-adaptive study (HPDC 2021), with the figures of dragonfly-1056",
        declared: DeclaredCounts {
            routers: 510,
            nodes: 2550,
            usable_nodes: 2550,
            links: &[("local", 4_590), ("global", 2_550)],
        },
        wiring: Wiring::Fixed(|| Dragonfly { p: 5, a: 10, h: 5, g: 51, ..Dragonfly::default() }.builder()),
    },
    Preset {
        name: "frontier-like",
        summary: "Slingshot dragonfly like Frontier's 74 compute groups: 2,368 routers, 9,472 nodes of 64 cores with 4 NICs, assumed at 4 \
            neighbouring switches; congestion control by `engine.control`",
        source: "Atchley et al., SC 2023: 74 groups of 32 switches, 4 cables per group pair (270 TB/s in each \
            direction), 4 NICs of 25 GB/s per node. Assumed: the NICs of a node at 4 neighbouring switches of its group. Left \
            out: I/O groups",
        declared: DeclaredCounts {
            routers: 2368,
            nodes: 9472,
            usable_nodes: 9472,
            links: &[("local", 73_408), ("global", 21_608)],
        },
        wiring: Wiring::Rails(|| slingshot(74, 4, 4, 64).builder(), at_next_switches(4)),
    },
    Preset {
        name: "aurora-like",
        summary: "Slingshot dragonfly like Aurora's 166 compute groups: 5,312 routers, 10,624 nodes of 104 cores with 8 NICs, assumed at 8 \
            neighbouring switches; congestion control by `engine.control`",
        source: "\"Scaling MPI applications on Aurora\", arXiv 2512.04291: 166 groups of 32 switches, 2 cables per \
            group pair, 8 NICs of 25 GB/s per node. Assumed: the NICs of a node at 8 neighbouring switches of its \
            group. Left out: I/O and service groups",
        declared: DeclaredCounts {
            routers: 5312,
            nodes: 10_624,
            usable_nodes: 10_624,
            links: &[("local", 164_672), ("global", 54_780)],
        },
        wiring: Wiring::Rails(|| slingshot(166, 2, 2, 104).builder(), at_next_switches(8)),
    },
    Preset {
        name: "bgl-midplane",
        summary: "Blue Gene/L midplane: torus 8 x 8 x 8, 512 nodes of 2 cores",
        source: blue_gene::SOURCE_L,
        declared: torus(512, &[("local", 3_072)]),
        wiring: Wiring::Block(|| blue_gene::l(&[8, 8, 8])),
    },
    Preset {
        name: "bgl-rack",
        summary: "Blue Gene/L rack: torus 8 x 8 x 16, 1,024 nodes of 2 cores",
        source: blue_gene::SOURCE_L,
        declared: torus(1024, &[("local", 6_144)]),
        wiring: Wiring::Block(|| blue_gene::l(&[8, 8, 16])),
    },
    Preset {
        name: "bgp-midplane",
        summary: "Blue Gene/P midplane: torus 8 x 8 x 8, 512 nodes of 4 cores",
        source: blue_gene::SOURCE_P,
        declared: torus(512, &[("local", 3_072)]),
        wiring: Wiring::Block(|| blue_gene::p(&[8, 8, 8])),
    },
    Preset {
        name: "bgp-rack",
        summary: "Blue Gene/P rack: torus 8 x 8 x 16, 1,024 nodes of 4 cores",
        source: blue_gene::SOURCE_P,
        declared: torus(1024, &[("local", 6_144)]),
        wiring: Wiring::Block(|| blue_gene::p(&[8, 8, 16])),
    },
    Preset {
        name: "jugene",
        summary: "Blue Gene/P of Jülich, 72 racks: torus 72 x 32 x 32, 73,728 nodes of 4 cores",
        source: blue_gene::SOURCE_P,
        declared: torus(73_728, &[("local", 442_368)]),
        wiring: Wiring::Block(|| blue_gene::p(&[72, 32, 32])),
    },
    Preset {
        name: "bgq-midplane",
        summary: "Blue Gene/Q midplane: torus 4 x 4 x 4 x 4 x 2, 512 nodes of 16 cores",
        source: blue_gene::SOURCE_Q,
        declared: torus(512, &[("local", 5_120)]),
        wiring: Wiring::Block(|| blue_gene::q(&[4, 4, 4, 4, 2])),
    },
    Preset {
        name: "bgq-rack",
        summary: "Blue Gene/Q rack: torus 4 x 4 x 4 x 8 x 2, 1,024 nodes of 16 cores",
        source: blue_gene::SOURCE_Q,
        declared: torus(1024, &[("local", 10_240)]),
        wiring: Wiring::Block(|| blue_gene::q(&[4, 4, 4, 8, 2])),
    },
    Preset {
        name: "mira",
        summary: "Blue Gene/Q of Argonne, 48 racks: torus 8 x 12 x 16 x 16 x 2, 49,152 nodes of 16 cores",
        source: blue_gene::SOURCE_Q,
        declared: torus(49_152, &[("local", 491_520)]),
        wiring: Wiring::Block(|| blue_gene::q(&[8, 12, 16, 16, 2])),
    },
    Preset {
        name: "sequoia",
        summary: "Blue Gene/Q of Livermore, 96 racks: torus 16 x 12 x 16 x 16 x 2, 98,304 nodes of 16 cores",
        source: blue_gene::SOURCE_Q,
        declared: torus(98_304, &[("local", 983_040)]),
        wiring: Wiring::Block(|| blue_gene::q(&[16, 12, 16, 16, 2])),
    },
];

const fn torus(nodes: usize, links: &'static [(&'static str, usize)]) -> DeclaredCounts {
    DeclaredCounts { routers: nodes, nodes, usable_nodes: nodes, links }
}

/// Groups of 32 switches of 64 ports: 16 to NICs, 31 inside the group, 16 to other groups. 25 GB/s per port.
fn slingshot(groups: u32, nodes_per_router: u32, cables_per_pair: u32, cores: u32) -> Dragonfly {
    Dragonfly {
        p: nodes_per_router,
        a: 32,
        h: 16,
        g: groups,
        global_cables: Some(cables_per_pair),
        // About 350 ns through a switch (De Sensi et al. 2020), added to the link after it; 2 m and 20 m of cable.
        local: LinkFigures::new(25_000_000_000, 360),
        global: LinkFigures::new(25_000_000_000, 450),
        terminal: LinkFigures::new(25_000_000_000, 10),
        cores_per_node: cores,
        ..Dragonfly::default()
    }
}
