//! The traffic of a run: what each of its jobs sends.

mod closed;
mod fifo_scheduler;
mod jobs;
mod mixed;
mod open;
mod prefetch;
mod rails;

pub use closed::{ClosedJob, NodeMessage};
pub use jobs::ClosedTraffic;
pub use odonata_workload::{Injection, LoadStep};
pub use open::OpenJob;

use crate::endpoint::{Endpoints, Nics, Program};
use odonata_units::{NodeId, Stream, Time};
use std::sync::Arc;

/// Chooses the destination of a message.
pub trait Destinations: Send + Sync {
    /// The node that `source` sends its next message to, never itself.
    fn draw(&self, source: NodeId, random: &mut Stream) -> NodeId;
}

impl<F: Fn(NodeId, &mut Stream) -> NodeId + Send + Sync> Destinations for F {
    fn draw(&self, source: NodeId, random: &mut Stream) -> NodeId {
        self(source, random)
    }
}

/// The traffic of one job.
#[derive(Clone)]
pub enum JobTraffic {
    /// Every node makes packets at a given rate, whatever the network does.
    Open(OpenJob),
    /// Every node sends a list of messages, each as soon as the network takes it.
    Closed(ClosedJob),
    /// Whatever a program does. Jobs that are given the same one are served by it together.
    Program(Arc<dyn Program>),
}

impl JobTraffic {
    /// Whether it comes to an end of its own: it is no open traffic, and has something to do.
    fn is_finite(&self, number: usize) -> bool {
        match self {
            Self::Open(_) => false,
            Self::Closed(job) => job.messages.iter().any(NodeMessage::is_sent),
            Self::Program(program) => program.is_finite(number as u16),
        }
    }
}

/// The traffic of a run, by job. Jobs may share nodes: open ones send in the order in which packets are made, closed ones take
/// turns message by message, and these two and each program take turns packet by packet.
#[derive(Clone, Default)]
pub struct Traffic {
    /// What each job sends.
    pub jobs: Vec<JobTraffic>,
}

impl Traffic {
    /// Jobs of open traffic.
    pub fn open(jobs: Vec<OpenJob>) -> Self {
        Self { jobs: jobs.into_iter().map(JobTraffic::Open).collect() }
    }

    /// Jobs of closed traffic.
    pub fn closed(jobs: Vec<ClosedJob>) -> Self {
        Self { jobs: jobs.into_iter().map(JobTraffic::Closed).collect() }
    }

    /// One job that is a program.
    pub fn program(program: Arc<dyn Program>) -> Self {
        Self { jobs: vec![JobTraffic::Program(program)] }
    }

    /// The jobs that a run waits for: those that come to an end and, if there is none, all of them. What has no end beside jobs that
    /// come to an end goes on until these have.
    pub(crate) fn awaited(&self) -> Vec<usize> {
        let all = 0..self.jobs.len();
        let finite: Vec<usize> = all.clone().filter(|&job| self.jobs[job].is_finite(job)).collect();
        if finite.is_empty() {
            all.collect()
        } else {
            finite
        }
    }

    /// Whether any job's traffic is open.
    pub fn has_open(&self) -> bool {
        self.jobs.iter().any(|job| matches!(job, JobTraffic::Open(_)))
    }

    /// Whether traffic without an end runs beside jobs that come to one. Such a run is complete when these have ended.
    pub fn is_mixed(&self) -> bool {
        let endless = |(number, job): (usize, &JobTraffic)| match job {
            JobTraffic::Open(_) => true,
            JobTraffic::Closed(_) => false,
            JobTraffic::Program(program) => !program.is_finite(number as u16),
        };
        self.jobs.iter().enumerate().any(endless)
            && self.jobs.iter().enumerate().any(|(number, job)| job.is_finite(number))
    }

    /// Whether any job is a program.
    pub(crate) fn has_programs(&self) -> bool {
        self.jobs.iter().any(|job| matches!(job, JobTraffic::Program(_)))
    }

    /// Each of the programs that jobs are, once.
    pub(crate) fn programs(&self) -> Vec<&Arc<dyn Program>> {
        let mut programs: Vec<&Arc<dyn Program>> = Vec::new();
        for job in &self.jobs {
            if let JobTraffic::Program(program) = job {
                if !programs.iter().any(|known| std::ptr::addr_eq(known.as_ref(), program.as_ref())) {
                    programs.push(program);
                }
            }
        }
        programs
    }

    /// What is known of open traffic before a time, without the loads from then on; `None` if any of it is not open.
    pub(crate) fn before(&self, time: Time) -> Option<Self> {
        let before = |job: &JobTraffic| match job {
            JobTraffic::Open(job) => Some(JobTraffic::Open(job.before(time))),
            JobTraffic::Closed(_) | JobTraffic::Program(_) => None,
        };
        Some(Self { jobs: self.jobs.iter().map(before).collect::<Option<_>>()? })
    }

    /// When a load changes for the last time before `time`.
    pub(crate) fn last_step_before(&self, time: Time) -> Option<Time> {
        let steps = self.jobs.iter().flat_map(|job| match job {
            JobTraffic::Open(job) => &job.steps[job.steps.len().min(1)..],
            JobTraffic::Closed(_) | JobTraffic::Program(_) => &[],
        });
        steps.map(|step| step.from).filter(|from| *from < time).max()
    }

    /// The endpoints of some nics, dealt to torus FIFOs where there are such.
    pub(crate) fn endpoints(&self, nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let endpoints = self.nic_endpoints(nics);
        match nics.fifos() {
            Some(fifos) => {
                Box::new(fifo_scheduler::FifoScheduler::new(endpoints, fifos, nics.count() / nics.per_node()))
            }
            None => endpoints,
        }
    }

    /// The endpoints of some nics.
    fn nic_endpoints(&self, nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        let mut programs: Vec<(&Arc<dyn Program>, Vec<u16>)> = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            let number = number as u16;
            match job {
                JobTraffic::Open(job) => open.push((number, job)),
                JobTraffic::Closed(job) => closed.push((number, job)),
                JobTraffic::Program(program) => {
                    match programs.iter_mut().find(|(known, _)| std::ptr::addr_eq(known.as_ref(), program.as_ref())) {
                        Some((_, jobs)) => jobs.push(number),
                        None => programs.push((program, vec![number])),
                    }
                }
            }
        }
        let mut members: Vec<(Box<dyn Endpoints>, Vec<u16>)> = Vec::new();
        if !open.is_empty() {
            let jobs = open.iter().map(|(number, _)| *number).collect();
            let sources: Box<dyn Endpoints> = Box::new(open::OpenEndpoints::new(&open, nics));
            let sources = match nics.selector().filter(|_| nics.per_node() > 1) {
                Some(selector) => Box::new(prefetch::PrefetchEndpoints::new(sources, selector, nics)),
                None => sources,
            };
            members.push((sources, jobs));
        }
        if !closed.is_empty() || self.jobs.is_empty() {
            let jobs = closed.iter().map(|(number, _)| *number).collect();
            members.push((Box::new(closed::ClosedEndpoints::new(&closed, nics)), jobs));
        }
        for (program, jobs) in programs {
            let endpoints = match nics.has_rails() {
                true => Box::new(rails::RailEndpoints::new(&**program, &jobs, nics)),
                false => program.endpoints(&jobs, nics),
            };
            members.push((endpoints, jobs));
        }
        if members.len() == 1 {
            return members.remove(0).0;
        }
        Box::new(mixed::MixedEndpoints::new(members, nics.count()))
    }
}

impl Program for OpenJob {
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let jobs: Vec<_> = jobs.iter().map(|&number| (number, self)).collect();
        Box::new(open::OpenEndpoints::new(&jobs, nics))
    }
}

impl Program for ClosedJob {
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let jobs: Vec<_> = jobs.iter().map(|&number| (number, self)).collect();
        Box::new(closed::ClosedEndpoints::new(&jobs, nics))
    }
}
