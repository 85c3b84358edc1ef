//! Sums of the threads of a solver in one pass.

use crate::workers;
use odonata_processes::{sum, Processes};

/// Sums of one thread in one pass.
#[derive(Clone)]
pub(crate) struct Sums {
    pub(crate) links: Vec<u64>,
    pub(crate) ports: Vec<u64>,
    pub(crate) offered: Vec<u64>,
    /// Sums of the grant sink.
    pub(crate) sink_sums: Vec<u64>,
}

/// Sums over all threads of all processes; the first thread of each has the result.
pub(crate) fn merge_sums(sums: &mut [Sums], processes: &dyn Processes) {
    let arrays: [fn(&mut Sums) -> &mut Vec<u64>; 3] =
        [|sums| &mut sums.links, |sums| &mut sums.ports, |sums| &mut sums.offered];
    for array in arrays {
        workers::merge_into_first(sums.iter_mut().map(|sums| array(sums).as_mut_slice()).collect());
    }
    let first = &mut sums[0];
    sum(processes, &mut [&mut first.links, &mut first.ports, &mut first.offered]);
}
