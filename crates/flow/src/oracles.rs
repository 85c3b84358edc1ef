//! The solver against hand-solved systems. Each test contains its derivation.

use crate::history::{Candidates, GrantHistory, Paths, Solution};
use crate::solver::{Sharing, System, Weight};
use odonata_processes::SingleProcess;
use odonata_units::LinkId;

/// Fixed paths for every iteration: by flow, paths of the first kind and paths of the second.
struct FixedPaths(Vec<[Vec<Vec<u32>>; 2]>);

impl Candidates for FixedPaths {
    fn path_counts(&self, flow: usize) -> [usize; 2] {
        [self.0[flow][0].len(), self.0[flow][1].len()]
    }

    fn draw(&self, flow: usize, _: u32, paths: &mut Paths) {
        for path in self.0[flow].iter().flatten() {
            paths.links.extend(path.iter().map(|&l| LinkId(l)));
            paths.ends.push(paths.links.len() as u32);
        }
    }
}

/// Solves flows of one member each, with their own ports, on links of 10^6. Two iterations release half of all
/// capacity each.
fn solve(candidates: &FixedPaths, offered: &[f64], sharing: Sharing) -> Solution {
    let flows = offered.len() as u32;
    let members: Vec<Weight> = (0..flows).map(|flow| Weight { weight: 1.0, ports: [2 * flow, 2 * flow + 1] }).collect();
    let ports: Vec<u64> = offered.iter().flat_map(|&rate| [rate as u64; 2]).collect();
    System {
        links: &[1_000_000; 5],
        ports: &ports,
        first_member: &(0..=flows).collect::<Vec<u32>>(),
        members: &members,
        offered,
        candidates,
        sharing,
        slices: 2,
        cutoff: 1,
        max_iterations: 2,
        tolerance: 0.0,
        threads: 1,
        history: GrantHistory::Grants,
        processes: &SingleProcess,
    }
    .solve(&mut |_| true)
    .unwrap()
}

/// Share of flow 0's grants on paths over `link`.
fn share_on(link: u32, candidates: &FixedPaths, solution: &Solution) -> f64 {
    let add = |_: usize, share: f64, path: &[LinkId], sums: &mut [u64]| {
        if path.contains(&LinkId(link)) {
            sums[0] += (share * 1e9).round() as u64;
        }
    };
    solution.replay(candidates, 0..1, 1, 1, &mut || true, add).unwrap()[0] as f64 / 1e9
}

/// UGAL weighs queues by hops. Flow 0 sends 0.4 of a link's capacity, over links 0 and 1, or over links 2, 3 and 4.
/// Flow 1 sends 1.4 over link 0 and flow 2 sends 1.4 over link 2; neither has another path. In iteration 0 no queue
/// is known, and flow 0 takes the direct path. So the loads are
///   link 0: 0.4 + 1.4 = 1.8, link 1: 0.4, link 2: 1.4, links 3 and 4: 0.
/// The queues are the loads above 1:
///   q_direct = 0.8 over 2 hops = 1.6, q_indirect = 0.4 over 3 hops = 1.2.
/// Iteration 1 takes the indirect path if 1.6 > threshold 1.2 + bias. (By queues alone it would already at threshold
/// 1.4: 0.8 > 0.56.) The ports of flow 0 release 0.2 per iteration. That is less than 0.25, its half of a slice of
/// link 0 or 2. So half of its grants takes each path, or all grants take the direct path.
#[test]
fn ugal_weighs_queues_by_hops() {
    let candidates =
        FixedPaths(vec![[vec![vec![0, 1]], vec![vec![2, 3, 4]]], [vec![vec![0]], vec![]], [vec![vec![2]], vec![]]]);
    let offered = [400_000.0, 1_400_000.0, 1_400_000.0];
    let cases = [
        (1.0, 0.0, true),
        (1.3, 0.0, true),  // 1.6 > 1.56
        (1.4, 0.0, false), // 1.6 < 1.68
        (0.0, 1.5, true),  // 1.6 > 1.5
        (0.0, 1.7, false), // 1.6 < 1.7
        (1.0, 0.3, true),  // 1.6 > 1.5
        (1.0, 0.5, false), // 1.6 < 1.7
    ];
    for (threshold, bias, around) in cases {
        let solution = solve(&candidates, &offered, Sharing::Ugal { threshold, bias });
        let (straight, detour) = (share_on(0, &candidates, &solution), share_on(2, &candidates, &solution));
        assert!((straight + detour - 1.0).abs() < 1e-5, "{straight} {detour}");
        let expected = if around { 0.5 } else { 0.0 };
        assert!((detour - expected).abs() < 1e-5, "threshold {threshold}, bias {bias}: {detour} on the indirect path");
        assert!(around || detour == 0.0, "a path that is not chosen gets nothing: {detour}");
    }
}

/// Every link is narrower than the cutoff: nothing is requested, and the growth is 0 instead of 0/0.
#[test]
fn nothing_is_granted_where_nothing_can_be() {
    let candidates = FixedPaths(vec![[vec![vec![0]], vec![]]]);
    let member = [Weight { weight: 1.0, ports: [0, 1] }];
    let system = System {
        links: &[5],
        ports: &[1_000; 2],
        first_member: &[0, 1],
        members: &member,
        offered: &[1_000.0],
        candidates: &candidates,
        sharing: Sharing::Residual,
        slices: 2,
        cutoff: 10,
        max_iterations: 8,
        tolerance: 0.1,
        threads: 1,
        history: GrantHistory::Grants,
        processes: &SingleProcess,
    };
    let solution = system.solve(&mut |_| true).unwrap();
    assert_eq!((&solution.granted[..], solution.last_growth, solution.converged), (&[0][..], 0.0, true));
}
