//! The machine and a hierarchy of the paper, for tests.

use crate::{Hierarchy, Level, HIERARCHIES};
use odonata_declare::Reader;
use odonata_model::{Constants, DragonflyFigures, NetworkFigures};

/// The level tables and lists of a directory, by name.
pub(crate) struct Directory(pub(crate) &'static [(&'static str, &'static str)]);

impl Reader for Directory {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| format!("can't read {name}"))
    }

    fn locate(&self, kind: &str, name: &str) -> Result<std::path::PathBuf, String> {
        assert_eq!(kind, HIERARCHIES);
        Ok(name.into())
    }
}

/// Eos from Tables 1 and 2 of the paper, with two 20 MB caches per node (Xeon E5-2670).
pub(crate) fn eos() -> Constants {
    Constants {
        alpha_s: 0.238e-6,
        beta_s_per_value: 0.858e-9,
        gamma_s: 0.416e-6,
        flop_s: vec![1.59e-9, 0.806e-9, 0.545e-9],
        thread_bandwidth: vec![(1, 11106e6), (2, 5335.5e6), (4, 2755.0e6), (8, 1374.8e6), (16, 678.56e6)],
        node_bandwidth: 16e9,
        cores_per_node: 16,
        cache_bytes_per_node: 40e6,
        network: NetworkFigures::Dragonfly(DragonflyFigures::aries(2)),
    }
}

/// BoomerAMG on the 7-point Laplacian with 30^3 points on each of 512 ranks: HMIS, extended+i with at most 4
/// coefficients, one aggressive level. The numbers come from the communication packages of hypre 2.26.
pub(crate) fn laplace_512() -> Hierarchy {
    let row = |c: f64, s, p, n, sh, ph, nh, active, m, mh| Level {
        unknowns: c,
        nonzeros_per_row: s,
        sends: p,
        values_sent: n,
        interpolation_nonzeros_per_row: sh,
        interpolation_sends: ph,
        interpolation_values_sent: nh,
        active_ranks: active,
        messages: m,
        interpolation_messages: mh,
    };
    let levels = vec![
        row(13_824_000.0, 6.975, 6.0, 5400.0, 2.15, 19.0, 773.0, 512.0, 2688.0, 7019.0),
        row(1_002_907.0, 20.02, 24.0, 1625.0, 3.42, 22.0, 243.0, 512.0, 8080.0, 7303.0),
        row(190_641.0, 54.07, 26.0, 988.0, 3.68, 23.0, 95.0, 512.0, 9872.0, 6801.0),
        row(20_227.0, 77.82, 33.0, 483.0, 3.66, 23.0, 41.0, 512.0, 11000.0, 5101.0),
        row(2_208.0, 78.01, 97.0, 355.0, 3.49, 50.0, 60.0, 509.0, 24284.0, 2980.0),
        row(283.0, 57.08, 130.0, 177.0, 2.93, 120.0, 120.0, 227.0, 12210.0, 700.0),
        row(34.0, 24.65, 32.0, 32.0, 0.0, 0.0, 0.0, 33.0, 778.0, 0.0),
    ];
    Hierarchy::new(512, levels).unwrap()
}
