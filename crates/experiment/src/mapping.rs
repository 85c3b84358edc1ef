//! What a search for a better mapping needs of a job: its places and who sends how much to whom.

use crate::experiment::Experiment;
use odonata_document::Problems;
use odonata_machine::{FastestLetter, Machine, Shape};
use odonata_workload::search::TorusPlaces;
use odonata_workload::volumes::Messages;
use odonata_workload::Job;

/// Most pairs of ranks that are listed: 16 B each here, and as much again for whoever adds both directions.
const MOST_PAIRS: usize = 1 << 27;

/// A job on a torus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MappedJob {
    /// Its name.
    pub name: String,
    /// Where its ranks may be.
    pub places: TorusPlaces,
    /// The letters of the axes.
    pub axes: String,
    /// Whether the first letter of an order is the fastest, not the last.
    pub first_fastest: bool,
    /// Sending ranks, in ascending order.
    pub sources: Vec<u32>,
    /// Receiving ranks, other than the sending one; each pair is there once.
    pub targets: Vec<u32>,
    /// Bytes from one to the other in all iterations.
    pub bytes: Vec<u64>,
    /// The place of every rank: those on one node in the order of their numbers.
    pub place_of_rank: Vec<u32>,
}

impl Experiment {
    /// The jobs that send something, on a torus whose axes are letters.
    ///
    /// # Errors
    /// All mistakes of the first stage that has any; or, as the last, why the machine or a job can't be mapped.
    pub fn mapped_jobs(&self) -> Result<Result<Vec<MappedJob>, String>, Problems> {
        let scenario = self.plan()?.scenario;
        Ok(scenario.workload.jobs.iter().filter(|job| !job.idle).map(|job| of_job(&scenario.machine, job)).collect())
    }
}

/// Links along an axis of a torus of so many routers.
fn links_along(routers: usize, size: u32, ring: bool) -> usize {
    match (size, ring) {
        (1, _) => 0,
        (_, true) => 2 * routers,
        (_, false) => 2 * (routers - routers / size as usize),
    }
}

fn of_job(machine: &Machine, job: &Job) -> Result<MappedJob, String> {
    let (coordinates, shape) = (machine.coordinates(), machine.shape());
    let one_each = machine.routers().all(|router| machine.nodes_of(router).len() == 1);
    let (Some(axes), Shape::Torus { dims, wrap }, true) = (coordinates.letters(), shape, one_each) else {
        return Err(format!(
            "{} is no torus of one node at each router whose axes are letters, as a Blue Gene is; a torus has them with \
             axes = \"XYZ\"",
            machine.name()
        ));
    };
    let links: usize =
        dims.iter().zip(wrap).map(|(&size, &ring)| links_along(machine.router_count(), size, ring)).sum();
    if machine.link_count() != links {
        let found = machine.link_count();
        return Err(format!(
            "{} has {found} links; expected {links}, one in each direction between neighbours",
            machine.name()
        ));
    }
    let places = TorusPlaces { sizes: dims.clone(), wraps: wrap.clone(), per_node: job.ranks_per_node };
    let mut held = vec![0; machine.router_count()];
    let place_of_rank = job.node_of_rank.iter().map(|&node| {
        let router = machine.router_of(node);
        held[router.index()] += 1;
        router.0 * job.ranks_per_node + held[router.index()] - 1
    });
    let place_of_rank = place_of_rank.collect();
    let (mut sources, mut targets, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    let mut messages = Messages::new(machine, job);
    for rank in job.rank_ids() {
        let mut sent: Vec<(u32, u64)> = messages
            .of(rank)
            .filter(|message| message.target != rank && message.bytes.0 > 0)
            .map(|message| (message.target.0, message.bytes.0))
            .collect();
        sent.sort_unstable_by_key(|&(target, _)| target);
        for of_target in sent.chunk_by(|a, b| a.0 == b.0) {
            let sum = of_target.iter().fold(0u64, |sum, &(_, bytes)| sum.saturating_add(bytes));
            sources.push(rank.0);
            targets.push(of_target[0].0);
            bytes.push(sum.saturating_mul(job.iterations.into()));
        }
        if sources.len() > MOST_PAIRS {
            let reason = format!("sends between more than {MOST_PAIRS} pairs of ranks, too many to list");
            return Err(format!("job '{}' {reason}", job.name));
        }
    }
    let (name, first_fastest) = (job.name.clone(), coordinates.fastest == FastestLetter::First);
    Ok(MappedJob { name, places, axes, first_fastest, sources, targets, bytes, place_of_rank })
}
