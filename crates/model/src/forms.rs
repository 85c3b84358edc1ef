//! General closed forms: the messages of every rank have a price.

use crate::message::{MessageModel, MessagePrices, Postal};
use crate::pricing::{Pricing, PricingError, PricingResult};
use crate::ranks::Costs;
use crate::Constants;
use odonata_declare::{declarations, parameters, Column, Frame, Parameters, Table, Variant};
use odonata_machine::Machine;
use odonata_units::{Rate, Time};
use odonata_workload::Workload;
use serde_json::Map;

/// The closed forms of this crate.
pub const FORMS: &[Variant<dyn Pricing>] = &[
    Variant::new("max-rate", "start-ups, and the larger of a rank's and its node's bytes, per rank", || {
        Box::new(MaxRateForm::default())
    }),
    Variant::new("postal", "start-up and bytes of every message, per rank", || Box::new(PostalForm::default())),
    Variant::new("loggp", "latency, overhead, gap and gap per byte, per rank", || Box::new(LogGpForm::default())),
];

parameters! {
    /// Parameters that all general forms have.
    pub struct CommonParameters {
        /// Time per router-to-router hop of a message on a minimal path.
        pub hop: Option<Time> = None, else "gamma of `parameters`";
        /// Time per squared number of messages that a rank receives. It stands for the search in the receive queue.
        pub matching: Option<Time> = None, else "0 s";
        /// Start-up time of a message between ranks of a node.
        pub on_node_alpha: Option<Time> = None, else "the start-up of `parameters`";
        /// Bandwidth of messages between ranks of a node.
        pub on_node_rate: Option<Rate> = None, else "the bandwidth of one thread while all threads are busy";
    }
}

parameters! {
    /// Start-ups, and the larger of a rank's and its node's bytes.
    pub struct MaxRateForm {
        /// `postal`, `max-rate`: start-up time of a message.
        pub alpha: Option<Time> = None, else "the value of `parameters`";
        /// Bandwidth of one rank; 1 / G of `loggp`.
        pub rate: Option<Rate> = None, else "the value of `parameters`";
        /// `max-rate`: bandwidth shared by the ranks of a node.
        pub node_rate: Option<Rate> = None, else "the value of `parameters`";
        /// Common parameters.
        pub common: CommonParameters = CommonParameters::default(), part;
    }
}

parameters! {
    /// Start-up and bytes of every message.
    pub struct PostalForm {
        /// `postal`, `max-rate`: start-up time of a message.
        pub alpha: Option<Time> = None, else "the value of `parameters`";
        /// Bandwidth of one rank; 1 / G of `loggp`.
        pub rate: Option<Rate> = None, else "the value of `parameters`";
        /// Common parameters.
        pub common: CommonParameters = CommonParameters::default(), part;
    }
}

parameters! {
    /// Latency, overhead, gap and gap per byte.
    pub struct LogGpForm {
        /// `loggp`: L.
        pub latency: Option<Time> = None, else "the start-up of `parameters`";
        /// `loggp`: o, processor time of a send or a receive.
        pub overhead: Option<Time> = None, else "0 s";
        /// `loggp`: g, minimum time between two sends.
        pub gap: Option<Time> = None, else "0 s";
        /// Bandwidth of one rank; 1 / G of `loggp`.
        pub rate: Option<Rate> = None, else "the value of `parameters`";
        /// Common parameters.
        pub common: CommonParameters = CommonParameters::default(), part;
    }
}

/// Fills a time that is not given with the measured one, to the nearest picosecond.
fn fill_time(key: &mut Option<Time>, seconds: f64) {
    key.get_or_insert(Time((seconds * 1e12).round() as u64));
}

/// Fills a rate that is not given with the measured one, to the nearest bit per second.
fn fill_rate(key: &mut Option<Rate>, bytes_per_s: f64) {
    key.get_or_insert(Rate::from_bits_per_s((bytes_per_s * 8.0).round().max(1.0) as u64));
}

fn seconds(key: Option<Time>) -> f64 {
    key.expect("`complete` filled the key").as_s_f64()
}

fn bytes_per_s(key: Option<Rate>) -> f64 {
    key.expect("the form is complete").bytes_per_s_f64()
}

impl CommonParameters {
    fn complete(&mut self, constants: &Constants) {
        let busy = constants.thread_bandwidth.last().map_or(constants.node_bandwidth, |(_, bandwidth)| *bandwidth);
        fill_time(&mut self.hop, constants.gamma_s);
        fill_time(&mut self.matching, 0.0);
        fill_time(&mut self.on_node_alpha, constants.alpha_s);
        fill_rate(&mut self.on_node_rate, busy);
    }

    fn prices(&self, model: MessageModel) -> MessagePrices {
        MessagePrices {
            model,
            within_node: Some(Postal { alpha_s: seconds(self.on_node_alpha), rate: bytes_per_s(self.on_node_rate) }),
            hop_s: seconds(self.hop),
            match_s: seconds(self.matching),
        }
    }
}

/// A closed form for messages.
trait MessageForm: Parameters {
    fn common(&self) -> &CommonParameters;

    /// Rates of this form.
    fn rates(&self) -> Vec<(&'static str, Option<Rate>)>;

    fn fill(&mut self, constants: &Constants);

    fn model(&self) -> MessageModel;
}

impl MessageForm for MaxRateForm {
    fn common(&self) -> &CommonParameters {
        &self.common
    }

    fn rates(&self) -> Vec<(&'static str, Option<Rate>)> {
        vec![("node_rate", self.node_rate), ("rate", self.rate)]
    }

    fn fill(&mut self, constants: &Constants) {
        self.common.complete(constants);
        fill_rate(&mut self.rate, constants.measured_bandwidth());
        fill_time(&mut self.alpha, constants.alpha_s);
        fill_rate(&mut self.node_rate, constants.node_bandwidth);
    }

    fn model(&self) -> MessageModel {
        MessageModel::MaxRate {
            alpha_s: seconds(self.alpha),
            rank_rate: bytes_per_s(self.rate),
            node_rate: bytes_per_s(self.node_rate),
        }
    }
}

impl MessageForm for PostalForm {
    fn common(&self) -> &CommonParameters {
        &self.common
    }

    fn rates(&self) -> Vec<(&'static str, Option<Rate>)> {
        vec![("rate", self.rate)]
    }

    fn fill(&mut self, constants: &Constants) {
        self.common.complete(constants);
        fill_rate(&mut self.rate, constants.measured_bandwidth());
        fill_time(&mut self.alpha, constants.alpha_s);
    }

    fn model(&self) -> MessageModel {
        MessageModel::Postal(Postal { alpha_s: seconds(self.alpha), rate: bytes_per_s(self.rate) })
    }
}

impl MessageForm for LogGpForm {
    fn common(&self) -> &CommonParameters {
        &self.common
    }

    fn rates(&self) -> Vec<(&'static str, Option<Rate>)> {
        vec![("rate", self.rate)]
    }

    fn fill(&mut self, constants: &Constants) {
        self.common.complete(constants);
        fill_rate(&mut self.rate, constants.measured_bandwidth());
        fill_time(&mut self.latency, constants.alpha_s);
        fill_time(&mut self.overhead, 0.0);
        fill_time(&mut self.gap, 0.0);
    }

    fn model(&self) -> MessageModel {
        MessageModel::LogGp {
            latency_s: seconds(self.latency),
            overhead_s: seconds(self.overhead),
            gap_s: seconds(self.gap),
            gap_per_byte_s: 1.0 / bytes_per_s(self.rate),
        }
    }
}

impl<F: MessageForm> Pricing for F {
    fn mistakes(&self) -> Vec<(&'static str, String)> {
        let mut rates = self.rates();
        rates.push(("on_node_rate", self.common().on_node_rate));
        let zero = rates.into_iter().filter(|(_, rate)| rate.is_some_and(|rate| rate.bits_per_s() == 0));
        zero.map(|(key, _)| (key, format!("'{key}' must be above 0"))).collect()
    }

    fn complete(&mut self, constants: &Constants) {
        self.fill(constants);
    }

    fn check(&self, workload: &Workload) -> Result<(), PricingError> {
        workload.check_messages().map_err(|(job, error)| PricingError::Job(job, error))?;
        Ok(self.common().prices(self.model()).check()?)
    }

    fn price(
        &self,
        machine: &Machine,
        workload: &Workload,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<PricingResult, PricingError> {
        self.check(workload)?;
        let costs = Costs::of(&self.common().prices(self.model()), machine, workload, progress)?;
        Ok(PricingResult {
            table: Costs::RANKS.of(&costs),
            job_columns: Frame::of(Costs::JOBS, &costs),
            summary: Map::new(),
            warnings: Vec::new(),
        })
    }

    fn job_columns(&self) -> Vec<Column> {
        declarations(Costs::JOBS)
    }

    fn table(&self) -> Table {
        Costs::RANKS.declaration()
    }
}
