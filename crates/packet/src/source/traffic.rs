//! Traffic of a run, by job, and the endpoints that create it.

use super::closed::{ClosedEndpoints, ClosedJob, NodeMessage};
use super::fifo_scheduler::FifoScheduler;
use super::mixed::{Member, MixedEndpoints};
use super::open::{OpenEndpoints, OpenJob};
use super::prefetch::PrefetchEndpoints;
use super::rails::RailEndpoints;
use crate::endpoint::{Endpoints, Nics, Program};
use odonata_units::Time;
use std::sync::Arc;

/// Traffic of one job.
#[derive(Clone)]
pub enum JobTraffic {
    /// Every node creates packets at a given rate, independent of the network.
    Open(OpenJob),
    /// Every node sends a list of messages as fast as the network accepts them.
    Closed(ClosedJob),
    /// Traffic of a program. Jobs with the same program share its endpoints.
    Program(Arc<dyn Program>),
}

impl JobTraffic {
    /// Whether the job ends: its traffic is not open, and it has work.
    fn is_finite(&self, number: usize) -> bool {
        match self {
            Self::Open(_) => false,
            Self::Closed(job) => job.messages.iter().any(NodeMessage::is_sent),
            Self::Program(program) => program.is_finite(number as u16),
        }
    }
}

/// Traffic of a run, by job. Jobs may share nodes. Open jobs of a node send in order of creation, closed jobs take
/// turns by message. These two and each program take turns by packet.
#[derive(Clone, Default)]
pub struct Traffic {
    /// Traffic of each job.
    pub jobs: Vec<JobTraffic>,
}

impl Traffic {
    /// Creates open traffic.
    pub fn open(jobs: Vec<OpenJob>) -> Self {
        Self { jobs: jobs.into_iter().map(JobTraffic::Open).collect() }
    }

    /// Creates closed traffic.
    pub fn closed(jobs: Vec<ClosedJob>) -> Self {
        Self { jobs: jobs.into_iter().map(JobTraffic::Closed).collect() }
    }

    /// Creates one job with a program.
    pub fn program(program: Arc<dyn Program>) -> Self {
        Self { jobs: vec![JobTraffic::Program(program)] }
    }

    /// Jobs that a run waits for: the finite jobs, or all jobs if none is finite. Endless jobs continue until all
    /// finite jobs have ended.
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

    /// Whether endless traffic runs together with finite jobs. The run is complete when the finite jobs have ended.
    pub fn is_mixed(&self) -> bool {
        let endless = |(number, job): (usize, &JobTraffic)| match job {
            JobTraffic::Open(_) => true,
            JobTraffic::Closed(_) => false,
            JobTraffic::Program(program) => !program.is_finite(number as u16),
        };
        self.jobs.iter().enumerate().any(endless)
            && self.jobs.iter().enumerate().any(|(number, job)| job.is_finite(number))
    }

    /// Whether a steady state is measured: of open traffic, without finite jobs.
    pub fn is_steady(&self) -> bool {
        self.has_open() && !self.is_mixed()
    }

    /// Whether any job is a program.
    pub(crate) fn has_programs(&self) -> bool {
        self.jobs.iter().any(|job| matches!(job, JobTraffic::Program(_)))
    }

    /// Programs with the numbers of their jobs.
    pub(crate) fn programs(&self) -> Vec<(&Arc<dyn Program>, Vec<u16>)> {
        let mut programs: Vec<(&Arc<dyn Program>, Vec<u16>)> = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            let JobTraffic::Program(program) = job else { continue };
            match programs.iter_mut().find(|(known, _)| std::ptr::addr_eq(known.as_ref(), program.as_ref())) {
                Some((_, jobs)) => jobs.push(number as u16),
                None => programs.push((program, vec![number as u16])),
            }
        }
        programs
    }

    /// Open traffic as known before `time`, without later load steps; `None` if not all traffic is open.
    pub(crate) fn before(&self, time: Time) -> Option<Self> {
        let before = |job: &JobTraffic| match job {
            JobTraffic::Open(job) => Some(JobTraffic::Open(job.before(time))),
            JobTraffic::Closed(_) | JobTraffic::Program(_) => None,
        };
        Some(Self { jobs: self.jobs.iter().map(before).collect::<Option<_>>()? })
    }

    /// Last change of a load before `time`.
    pub(crate) fn last_step_before(&self, time: Time) -> Option<Time> {
        let steps = self.jobs.iter().flat_map(|job| match job {
            JobTraffic::Open(job) => &job.steps[job.steps.len().min(1)..],
            JobTraffic::Closed(_) | JobTraffic::Program(_) => &[],
        });
        steps.map(|step| step.from).filter(|from| *from < time).max()
    }

    /// Creates the endpoints of some NICs, scheduled to torus FIFOs if nodes have these.
    pub(crate) fn endpoints(&self, nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let endpoints = self.nic_endpoints(nics);
        match nics.fifos() {
            Some(fifos) => Box::new(FifoScheduler::new(endpoints, fifos, nics.count() / nics.per_node())),
            None => endpoints,
        }
    }

    /// Creates the endpoints of some NICs, without torus FIFOs, separately for each traffic class.
    fn nic_endpoints(&self, nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let classes = nics.class_count();
        let mut members: Vec<Member> = (0..classes).flat_map(|class| self.class_members(class as u8, nics)).collect();
        if classes > 1 {
            members.extend(self.members_of_all_classes(nics));
        }
        if classes == 1 && members.len() == 1 {
            return members.remove(0).endpoints;
        }
        Box::new(MixedEndpoints::new(members, nics.count(), classes))
    }

    /// Endpoints of programs that offer their packets by traffic class.
    fn members_of_all_classes(&self, nics: &Nics<'_>) -> Vec<Member> {
        let programs = self.programs().into_iter().filter(|(program, _)| program.offers_by_class());
        let member = |(program, jobs): (&Arc<dyn Program>, Vec<u16>)| {
            let endpoints = program_endpoints(&**program, &jobs, nics);
            Member { endpoints, jobs, class: None }
        };
        programs.map(member).collect()
    }

    /// Endpoints of the packets in one traffic class.
    fn class_members(&self, class: u8, nics: &Nics<'_>) -> Vec<Member> {
        let is_only = nics.class_count() == 1;
        let split: Vec<(u16, ClosedJob)> = (0..)
            .zip(&self.jobs)
            .filter_map(|(number, job)| match job {
                JobTraffic::Closed(job) if !is_only => Some((number, job.in_class(class, nics.classes_of(number)))),
                _ => None,
            })
            .collect();
        let mut open: Vec<(u16, &OpenJob)> = Vec::new();
        let mut closed: Vec<(u16, &ClosedJob)> = Vec::new();
        for (number, job) in (0..).zip(&self.jobs) {
            match job {
                JobTraffic::Open(job) if is_only || job.class(nics.classes_of(number), nics.payload()) == class => {
                    open.push((number, job));
                }
                JobTraffic::Closed(job) if is_only => closed.push((number, job)),
                _ => {}
            }
        }
        closed.extend(split.iter().map(|(number, job)| (*number, job)));
        let mut members: Vec<Member> = Vec::new();
        if !open.is_empty() {
            let jobs = open.iter().map(|(number, _)| *number).collect();
            let sources: Box<dyn Endpoints> = Box::new(OpenEndpoints::new(&open, nics));
            let sources = match nics.selector().filter(|_| nics.per_node() > 1) {
                Some(selector) => Box::new(PrefetchEndpoints::new(sources, selector, nics)),
                None => sources,
            };
            members.push(Member { endpoints: sources, jobs, class: Some(class) });
        }
        if !closed.is_empty() || self.jobs.is_empty() {
            let jobs = closed.iter().map(|(number, _)| *number).collect();
            members.push(Member { endpoints: Box::new(ClosedEndpoints::new(&closed, nics)), jobs, class: Some(class) });
        }
        for (program, mut jobs) in self.programs() {
            jobs.retain(|&job| is_only || !program.offers_by_class() && nics.classes_of(job).class == class);
            if !jobs.is_empty() {
                let endpoints = program_endpoints(&**program, &jobs, nics);
                members.push(Member { endpoints, jobs, class: Some(class) });
            }
        }
        members
    }
}

fn program_endpoints(program: &dyn Program, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
    match nics.has_rails() {
        true => Box::new(RailEndpoints::new(program, jobs, nics)),
        false => program.endpoints(jobs, nics),
    }
}

impl Program for OpenJob {
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let jobs: Vec<_> = jobs.iter().map(|&number| (number, self)).collect();
        Box::new(OpenEndpoints::new(&jobs, nics))
    }
}

impl Program for ClosedJob {
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let jobs: Vec<_> = jobs.iter().map(|&number| (number, self)).collect();
        Box::new(ClosedEndpoints::new(&jobs, nics))
    }
}
