//! The state of a partition, and the order of its events.

use super::agenda::{Agenda, Clock, Event};
use super::class_state::Classes;
use super::congestion::Control;
use super::inputs::Inputs;
use super::nics::{EndpointSet, NicStates};
use super::outputs::{OnLink, OutputQueues, Outputs};
use super::port_set::{PendingOutputs, PortSet};
use super::routers::{FeedbackQueues, Routers};
use super::section::{End, Section};
use super::space::{Reservations, Rings};
use super::turns::Turns;
use crate::division::Division;
use crate::endpoint::Endpoints;
use crate::mail::{Mail, Outbox};
use crate::packet::{Pool, SideData, SideDataKinds, NONE};
use crate::record::Recorder;
use odonata_checkpoint::state;
use odonata_routing::algorithm::{Needs, Routing};
use std::sync::Arc;

pub(crate) struct Partition {
    pub(super) section: Section,
    pub(super) clock: Clock,
    pub(super) agenda: Agenda,
    pub(crate) pool: Pool,
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    pub(super) queues: OutputQueues,
    pub(super) on_link: OnLink,
    pub(super) turns: Turns,
    pub(super) reservations: Reservations,
    pub(super) rings: Rings,
    /// Output ports to settle at the end of this instant.
    pub(super) pending: PendingOutputs,
    /// Ports with deferred departures.
    pub(super) deferred: PortSet,
    pub(super) routers: Routers,
    pub(super) feedback: FeedbackQueues,
    pub(super) nics: NicStates,
    /// Traffic classes, if the network distinguishes any.
    pub(super) classes: Option<Box<Classes>>,
    /// Congestion control at NICs, if there is one.
    pub(super) control: Option<Box<Control>>,
    /// Whether arrivals are recorded or under control: one test per arrival for both.
    pub(super) observes_arrivals: bool,
    pub(crate) endpoints: Box<dyn Endpoints>,
    pub(crate) recorder: Recorder,
    /// Mail to other partitions. It belongs to the thread, which lends it for a window.
    pub(crate) outbox: Outbox,
}

// Saved between windows: then no output is pending, and all mail has been delivered.
state!(Partition {
    nested: clock, queues, turns, feedback, on_link, reservations, deferred, endpoints, recorder, agenda, pool, routers, outputs,
        inputs, nics, classes, control;
    rebuilt: section, rings, pending, outbox, observes_arrivals
});

impl Partition {
    /// Creates the partition of a section.
    pub(crate) fn new(
        section: Section,
        division: &Division,
        routing: Arc<dyn Routing>,
        needs: Needs,
        EndpointSet { endpoints, has_programs }: EndpointSet,
        recorder: Recorder,
        seed: u64,
    ) -> Self {
        let outputs = Outputs::new(&section, division);
        let nics = NicStates::new(&section, &*endpoints, has_programs);
        let ports = section.ports.len();
        let side_data = SideDataKinds {
            hop_estimates: needs.reports,
            paths: recorder.records_paths(),
            entry_times: section.fabric.selector.is_some(),
        };
        Self {
            clock: Clock::START,
            agenda: Agenda::new(&section, nics.have_listeners()),
            pool: Pool::new(side_data),
            inputs: Inputs::new(&section, &outputs),
            outputs,
            queues: OutputQueues::new(&section),
            on_link: OnLink::new(&section),
            turns: Turns::new(&section),
            reservations: Reservations::new(&section, routing.reserved_from()),
            rings: Rings::new(&section, &*routing),
            pending: PendingOutputs::new(ports),
            deferred: PortSet::new(ports),
            feedback: FeedbackQueues::new(if needs.reports { ports } else { 0 }),
            routers: Routers::new(&section, routing, needs, seed),
            nics,
            classes: Classes::new(&section),
            observes_arrivals: recorder.queues.is_some() || section.fabric.settings.has_control(),
            control: Control::new(&section, division, recorder.interval_ps()),
            endpoints,
            recorder,
            outbox: Outbox::default(),
            section,
        }
    }

    /// Handles all events before `until`. An idle partition costs nothing, and most of a large machine may be
    /// idle.
    pub(crate) fn advance(&mut self, until: u64) {
        // Idle partitions skip the window without touching their queue.
        if self.clock.quiet_until >= until {
            return;
        }
        self.clock.quiet_until = 0;
        while let Some((time, key)) = self.agenda.queue.pop(until) {
            self.clock.now = time;
            self.clock.events += 1;
            match self.agenda.keys.event(key) {
                Event::Input(i) => self.arrive(i),
                Event::Output(o) => self.output_event(o),
                Event::Node(event) => self.node_event(event),
            }
            // Settle after the last event of the instant, so that all its arrivals compete.
            if !self.pending.is_empty() && !self.agenda.queue.has_more_at(time) {
                self.settle();
            }
        }
        // Other partitions must see all departures of this window.
        self.catch_up_all(until);
    }

    /// Runs the second phase of an instant. By position, since serving an output needs the whole partition. It marks no
    /// port, so the list does not change meanwhile.
    fn settle(&mut self) {
        self.pending.sort();
        let mut k = 0;
        while let Some(out) = self.pending.unmark(k) {
            self.serve(out);
            k += 1;
        }
        self.pending.clear();
    }

    /// Runs an output: crossbar, link, and the crossbar again if the departure freed space.
    #[inline]
    fn serve(&mut self, o: usize) {
        self.catch_up_to(o, self.clock.now);
        // The crossbar goes first: a packet that enters the output queue may depart at once.
        let granted = self.outputs.ports[o].first_waiter != NONE && self.arbitrate(o);
        if self.outputs.ports[o].occupied == 0 || !self.send(o) || granted || self.outputs.ports[o].first_waiter == NONE
        {
            return;
        }
        // The departure freed space: another waiter may fit now.
        if self.arbitrate(o) {
            // If the buffer holds one packet only, the queue was empty after the departure, and no other call defers
            // it.
            self.defer(o);
        }
    }

    /// Runs output `o` now if its router has no other event at this instant, else at the end of the instant.
    #[inline]
    fn output_event(&mut self, o: usize) {
        if self.control.is_some() && self.outputs.ports[o].end == End::Node {
            self.serve_idle_port(o, self.outputs.ports[o].peer as usize);
        }
        // Without another event of this router there is nothing to wait for.
        if self.is_alone(self.inputs.ports[o].router) {
            self.serve(o);
        } else {
            self.pending.mark(o);
        }
    }

    /// Whether a router (of the partition) has no other event at this time. Other routers do not matter: every
    /// path to them takes time.
    #[inline]
    pub(super) fn is_alone(&self, router: u32) -> bool {
        self.pending.iter().all(|o| self.inputs.ports[o].router != router)
            && self.agenda.queue.is_alone(self.clock.now, router)
    }

    /// Delivers mail from other partitions.
    pub(crate) fn deliver(&mut self, mail: &mut Mail) {
        self.clock.quiet_until = 0;
        let first = self.section.ports.start;
        let mut paths = std::mem::take(&mut mail.paths).into_iter();
        let (mut hop_estimates, mut entered, mut envelopes) =
            (mail.hop_estimates.iter(), mail.entered.iter(), mail.envelopes.iter());
        let has_side_data = self.pool.has_side_data() || envelopes.len() > 0;
        for chunk in mail.packets() {
            for mailed in chunk {
                let slot = self.pool.insert(&mailed.packet());
                // Rare data is in separate lists, so that most packets stay one cache line.
                if has_side_data {
                    let envelope = if mailed.has_envelope() { envelopes.next() } else { None };
                    let (hop_estimate, path, entered) = (hop_estimates.next(), paths.next(), entered.next());
                    self.pool.put_side_data(slot, SideData { hop_estimate, path, entered, envelope });
                }
                self.put_on_link((mailed.port - first) as usize, slot, mailed.arrives);
            }
        }
        for chunk in mail.credits() {
            for &(port, credit) in chunk {
                self.take_credit((port - first) as usize, credit);
            }
        }
        for &(port, at, feedback) in &mail.feedback {
            self.take_feedback((port - first) as usize, at, feedback);
        }
        for &(nic, notice) in &mail.notices {
            self.take_notice((nic - self.section.nics.start) as usize, notice);
        }
    }

    /// A lower bound of the next event; `u64::MAX` if nothing happens without further mail.
    pub(crate) fn earliest(&mut self) -> u64 {
        if self.clock.quiet_until == 0 {
            self.clock.quiet_until = self.agenda.queue.earliest().min(self.first_deferred());
        }
        self.clock.quiet_until
    }
}
