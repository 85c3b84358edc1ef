//! The programs that users can name.

mod all_to_all;
mod allreduce;
mod checkpoint;
mod congestor;
mod fft_3d;
mod file;
mod halo;
mod incast;
mod lqcd;
mod lu;
mod lulesh;
mod pf3d;
mod ping_pong;
mod random_ring;
mod ring;
mod stencil_nd;
mod sweep;
mod trace;
mod uniform_random;

#[cfg(test)]
mod table_one;

pub use all_to_all::AllToAllProgramParameters;
pub use allreduce::AllreduceParameters;
pub use checkpoint::{CheckpointParameters, StorageAccess};
pub use congestor::{Congestor, CongestorParameters};
pub use fft_3d::Fft3dParameters;
pub use file::FileProgramParameters;
pub use halo::HaloParameters;
pub use incast::IncastParameters;
pub use lqcd::LqcdParameters;
pub use lu::LuParameters;
pub use lulesh::LuleshParameters;
pub use pf3d::{Pf3dParameters, Pf3dPhase};
pub use ping_pong::PingPongParameters;
pub use random_ring::RandomRingParameters;
pub use ring::RingParameters;
pub use stencil_nd::StencilNdParameters;
pub use trace::TraceParameters;
pub use uniform_random::UniformRandomParameters;

use crate::rule::{End, ProgramRule};
use odonata_declare::{RuleFamily, Variant};

/// The programs, in the order of the reference.
pub const PROGRAMS: &[Variant<dyn ProgramRule>] = &[
    Variant::new("uniform-random", "a random permutation per iteration: every rank sends to its image", || {
        Box::new(UniformRandomParameters::default())
    }),
    Variant::new("lu", "wavefronts over a 2D process grid, forward and back, as in LU factorisation", || {
        Box::new(LuParameters::default())
    }),
    Variant::new("fft-3d", "a 3D FFT on pencils: alltoalls in rows and columns of ranks", || {
        Box::new(Fft3dParameters::default())
    }),
    Variant::new("halo-3d", "exchange with 6 neighbours, dimension by dimension", || {
        Box::new(HaloParameters::default())
    }),
    Variant::new("lqcd", "4D lattice QCD: first and third neighbours of two parities, then two sums", || {
        Box::new(LqcdParameters::default())
    }),
    Variant::new("stencil-nd", "exchange with the neighbours on a grid of any dimensions, first up, then down", || {
        Box::new(StencilNdParameters::default())
    }),
    Variant::new("allreduce", "computation and allreduce of gradients: training of a neural network", || {
        Box::new(AllreduceParameters::default())
    }),
    Variant::new("lulesh", "broadcast, reduction, exchange with 26 neighbours, a wavefront", || {
        Box::new(LuleshParameters::default())
    }),
    Variant::new(
        "pf3d",
        "laser and plasma: transforms of planes, advection along the beam, exchange with 6 neighbours",
        || Box::new(Pf3dParameters::default()),
    ),
    Variant::new("ping-pong", "pairs of ranks that exchange a message", || Box::new(PingPongParameters::default())),
    Variant::new("incast", "all ranks send to a few ranks", || Box::new(IncastParameters::default())),
    Variant::new("halo-2d", "exchange with 4 neighbours, dimension by dimension", || {
        Box::new(HaloParameters::halo_2d())
    }),
    Variant::new("sweep-3d", "wavefronts from all eight corners of a box on a 2D process grid", || {
        Box::new(LuParameters::sweep_3d())
    }),
    Variant::new("ring", "every rank sends to the next rank", || Box::new(RingParameters::default())),
    Variant::new("random-ring", "rings in random order: exchange with both neighbours, as in GPCNeT", || {
        Box::new(RandomRingParameters::default())
    }),
    Variant::new("congestor", "a congestor of GPCNeT: all-to-all, incast, incast by put, broadcast by get", || {
        Box::new(CongestorParameters::default())
    }),
    Variant::new("checkpoint", "storage traffic: bursts of all ranks to a few I/O ranks, or reads from them", || {
        Box::new(CheckpointParameters::default())
    }),
    Variant::new("all-to-all", "an alltoall of all ranks", || Box::new(AllToAllProgramParameters::default())),
    Variant::new("file", "a program from a text file", || Box::new(FileProgramParameters::default())),
    Variant::new("trace", "replay of a real run, from its trace", || Box::new(TraceParameters::default())),
];

impl RuleFamily for dyn ProgramRule {
    const NOUN: &'static str = "program";
    const RULES: &'static [Variant<Self>] = PROGRAMS;
    type Common = End;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank_walks::{build, try_build, untimed};
    use crate::rule::ProgramSpec;
    use serde_json::json;

    fn names() -> impl Iterator<Item = &'static str> {
        PROGRAMS.iter().map(|program| program.name).filter(|name| !["file", "trace"].contains(name))
    }

    /// Values are written in a form that reads back, for every parameter.
    #[test]
    fn every_name_is_its_own() {
        for name in names() {
            let mut spec = ProgramSpec::parse(name).unwrap();
            assert_eq!(spec.name(), name);
            assert_eq!(names().filter(|other| *other == name).count(), 1);
            let values = spec.values();
            for (parameter, value) in &values {
                spec.set(parameter, value.clone()).unwrap();
            }
            assert_eq!(spec.values(), values, "{name}");
            assert_eq!(ProgramSpec::named(Variant::find("program", PROGRAMS, name).unwrap()).keys.len(), values.len());
        }
    }

    #[test]
    fn mistakes_name_the_nearest() {
        let error = ProgramSpec::parse("halo3d").unwrap_err();
        assert_eq!(error.to_string(), "unknown program 'halo3d'; did you mean 'halo-3d'?");
        let error = ProgramSpec::parse("lu").unwrap().set("plains", json!(3)).unwrap_err();
        assert_eq!(error.to_string(), "program 'lu': plains: unknown parameter; did you mean 'planes'?");
    }

    /// Few iterations and small messages, on odd grids and on one rank. With synchronous sends no rank blocks forever,
    /// sizes agree, no message remains, and all programs end with the barrier of 2 (p - 1) messages.
    #[test]
    fn every_program_ends() {
        for name in names() {
            for ranks in [1, 2, 7, 12, 64] {
                let mut given = Vec::new();
                for (parameter, _) in ProgramSpec::parse(name).unwrap().values() {
                    match parameter {
                        "iterations" => given.push((parameter, json!(2))),
                        "planes" => given.push((parameter, json!(25))),
                        "rings" => given.push((parameter, json!(2))),
                        "warm_up" => given.push((parameter, json!(1))),
                        "sweep_blocks" => given.push((parameter, json!(3))),
                        "lattice" => given.push((parameter, json!([8, 84, 24, 12]))),
                        "nx" => given.push((parameter, json!(16))),
                        _ => {}
                    }
                }
                let mut run = |barrier: bool| {
                    given.push(("final_barrier", json!(barrier)));
                    let program = build(name, ranks, &given);
                    untimed(&*program).totals()
                };
                let (with, without) = (run(true), run(false));
                assert_eq!(with.0 - without.0, 2 * u64::from(ranks - 1), "{name}");
                assert_eq!(with.1, without.1);
            }
        }
    }

    /// The marks of a program are numbers of its phases, each phase has a mark, and names are unique.
    #[test]
    fn phases_are_named() {
        for name in names() {
            let program = build(name, 12, &[("lattice", json!([8, 84, 24, 12]))][..usize::from(name == "lqcd")]);
            let phases = program.phases();
            let mut marked = vec![false; phases.len()];
            for rank in 0..12 {
                let mut cursor = crate::cursor::Cursor::default();
                while let Some(call) = cursor.next(&*program, rank) {
                    if let crate::call::Call::Mark { phase } = call {
                        marked[phase as usize] = true;
                    }
                }
            }
            assert!(marked.iter().all(|&marked| marked), "{name}: {phases:?}, {marked:?}");
            assert!(!program.is_communication(phases.len() as u32 - 1), "the end is none");
            let unique: std::collections::BTreeSet<_> = phases.iter().collect();
            assert_eq!(unique.len(), phases.len());
        }
    }

    #[test]
    fn grids_that_do_not_fit() {
        let message =
            |name, ranks, given: &[(&str, serde_json::Value)]| try_build(name, ranks, given).unwrap_err().to_string();
        assert_eq!(
            message("halo-3d", 528, &[("dims", json!([11, 8, 5]))]),
            "job 'test': program 'halo-3d': dims: 11 x 8 x 5 makes 440 points, but the job has 528 ranks; for example \
             [11, 8, 6] fits"
        );
        assert!(message("lu", 12, &[("dims", json!([12]))]).ends_with("dims: 1 sizes given, expected 2"));
        assert!(message("lulesh", 12, &[("sweep_dims", json!([4, 4]))]).contains("sweep_dims: 4 x 4 makes 16"));
        assert!(message("stencil-nd", 12, &[("dims", json!([]))]).contains("dims: no sizes given"));
        assert_eq!(
            message("fft-3d", 12, &[("rows", json!(5))]),
            "job 'test': program 'fft-3d': rows: 5 rows do not divide 12 ranks; for example 3 does"
        );
        assert_eq!(
            message("lqcd", 7, &[]),
            "job 'test': program 'lqcd': lattice: 7 divides the number of ranks, but no local size of the lattice 132 x 132 x 132 x 132; \
             expected sizes with the prime factors of the ranks"
        );
        let dims = [("dims", json!([5, 1, 1, 1]))];
        assert!(message("lqcd", 5, &dims).contains("dims: 5 does not divide 132, size 1 of the lattice"));
    }
}
