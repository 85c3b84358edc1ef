//! Traffic of jobs without a run: the columns of Table I of Kang et al. 2022 that need no run.

use crate::experiment::Experiment;
use crate::plan::Plan;
use odonata_declare::Value;
use odonata_document::Problems;
use odonata_engines::Scenario;
use odonata_programs::expansion::{CallExpander, JobProgram, Step};
use odonata_programs::Call;
use odonata_transport::{one_sided_volume, wire_volume};
use odonata_units::{Bytes, Time};
use odonata_workload::volumes::Messages;
use odonata_workload::{Job, TrafficKind};
use serde::{Serialize, Serializer};
use std::collections::{BTreeSet, VecDeque};

/// What all ranks of a job send.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Character {
    /// The job.
    #[serde(rename = "job")]
    pub name: String,
    /// Its program or its pattern.
    #[serde(rename = "pattern")]
    pub what: String,
    /// Its ranks.
    pub ranks: u32,
    /// Messages with content, including messages of collectives.
    pub messages: u64,
    /// Messages without content, for example of barriers.
    pub zero_byte_messages: u64,
    /// Packets with everything that the protocol exchanges; `None` where the engine has none.
    pub packets: Option<u64>,
    /// Content of all messages, bytes.
    pub payload_bytes: u64,
    /// Bytes that go over the network with everything that the protocol exchanges.
    pub wire_bytes: u64,
    /// Most bytes that one rank hands over in a row to different partners before it receives or waits (peak ingress volume).
    pub peak_ingress_bytes: u64,
    /// Longest time that a rank computes.
    #[serde(rename = "compute_s", serialize_with = "seconds")]
    pub compute: Time,
}

fn seconds<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_s_f64())
}

impl Experiment {
    /// Traffic of each job: all its iterations, or one iteration of a background job. Of open traffic, which has no end,
    /// all but the name stays 0.
    ///
    /// # Errors
    /// All mistakes of the first stage that has any.
    pub fn characterize(&self) -> Result<Vec<Character>, Problems> {
        let spec = self.spec()?;
        if spec.interference.absent {
            // Not all of the jobs need fit on the machine.
            let mut found = Vec::new();
            for changes in spec.alone().overrides {
                found.extend(of_plan(&self.clone().with_overrides(changes).plan()?));
            }
            return Ok(found);
        }
        Ok(of_plan(&Plan::new(spec, self.files())?))
    }
}

fn of_plan(plan: &Plan) -> Vec<Character> {
    let packet = plan.engine.resolved().into_iter().find_map(|(key, value)| match value {
        Value::Bytes(bytes) if key == "packet" => Some(bytes),
        _ => None,
    });
    plan.scenario.workload.jobs.iter().map(|job| of_job(&plan.scenario, job, packet)).collect()
}

fn of_job(scenario: &Scenario, job: &Job, packet: Option<Bytes>) -> Character {
    let named = Character {
        name: job.name.clone(),
        what: job.pattern_name.clone(),
        ranks: job.ranks,
        packets: packet.map(|_| 0),
        ..Character::default()
    };
    match (&job.program, &job.traffic) {
        (Some(shared), _) => of_program(scenario, job, shared, packet, named),
        (None, TrafficKind::Open(_)) => named,
        (None, _) => of_pattern(scenario, job, packet, named),
    }
}

/// Everything is handed over at once, in every iteration.
fn of_pattern(scenario: &Scenario, job: &Job, packet: Option<Bytes>, mut character: Character) -> Character {
    let mut messages = Messages::new(&scenario.machine, job);
    for rank in job.rank_ids() {
        let mut handed_over = 0u64;
        for message in messages.of(rank) {
            let packets = packet.map(|packet| message.bytes.0.div_ceil(packet.0));
            character.add(message.bytes.0, message.bytes.0, packets);
            handed_over = handed_over.saturating_add(message.bytes.0);
        }
        character.peak_ingress_bytes = character.peak_ingress_bytes.max(handed_over);
    }
    let times = u64::from(job.iterations);
    for sum in [
        &mut character.messages,
        &mut character.zero_byte_messages,
        &mut character.payload_bytes,
        &mut character.wire_bytes,
    ] {
        *sum = sum.saturating_mul(times);
    }
    character.packets = character.packets.map(|packets| packets.saturating_mul(times));
    character
}

/// What a rank has handed over in a row.
#[derive(Default)]
struct Row {
    partners: BTreeSet<u32>,
    bytes: u64,
}

impl Row {
    fn add(&mut self, to: u32, bytes: u64) -> u64 {
        if !self.partners.insert(to) {
            (self.bytes, self.partners) = (0, BTreeSet::from([to]));
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.bytes
    }

    fn end(&mut self) {
        self.bytes = 0;
        self.partners.clear();
    }
}

fn of_program(
    scenario: &Scenario,
    job: &Job,
    shared: &JobProgram,
    packet: Option<Bytes>,
    mut character: Character,
) -> Character {
    let endless = job.is_background();
    // Bytes on the wire do not depend on it.
    let size = packet.unwrap_or(Bytes(512));
    for rank in 0..job.ranks {
        let (mut walk, mut row, mut compute) = (CallExpander::new(job.ranks, rank), Row::default(), Time::ZERO);
        let mut ahead = VecDeque::new();
        while let Ok(Some(step)) = ahead.pop_front().map_or_else(|| walk.next(shared), |step| Ok(Some(step))) {
            if let Step::Start { lane, .. } = step {
                while let Ok(Some(call)) = walk.next_of_lane(lane, shared) {
                    ahead.push_back(Step::Inner(call));
                }
            }
            let (Step::Call(call) | Step::Inner(call)) = step else { continue };
            match call {
                Call::Send { to, bytes, .. } | Call::Isend { to, bytes, .. } => {
                    let (wire, packets) = wire_volume(&scenario.mpi, size, bytes);
                    character.add(bytes.0, wire, packet.map(|_| packets));
                    character.peak_ingress_bytes = character.peak_ingress_bytes.max(row.add(to, bytes.0));
                }
                Call::Put { to: peer, bytes } | Call::Get { from: peer, bytes } => {
                    let is_put = matches!(call, Call::Put { .. });
                    let (wire, packets) = one_sided_volume(&scenario.mpi, size, is_put, bytes);
                    character.add(bytes.0, wire, packet.map(|_| packets));
                    character.peak_ingress_bytes = character.peak_ingress_bytes.max(row.add(peer, bytes.0));
                }
                Call::Compute { time, .. } | Call::Sleep { time, .. } => compute += time,
                // Of a job in the background, once: it never ends.
                Call::Round if endless => break,
                Call::Mark { .. } | Call::WaitUntil { .. } | Call::Round => {}
                _ => row.end(),
            }
        }
        character.compute = character.compute.max(compute);
    }
    character
}

impl Character {
    fn add(&mut self, bytes: u64, wire: u64, packets: Option<u64>) {
        self.messages += u64::from(bytes > 0);
        self.zero_byte_messages += u64::from(bytes == 0);
        self.payload_bytes = self.payload_bytes.saturating_add(bytes);
        self.wire_bytes = self.wire_bytes.saturating_add(wire);
        self.packets = self.packets.zip(packets).map(|(sum, more)| sum.saturating_add(more));
    }
}
