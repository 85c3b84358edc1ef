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
        #[decides(result)]
        pub on_node_alpha: Option<Time> = None, else "the start-up of `parameters`";
        /// Bandwidth of messages between ranks of a node.
        #[decides(result)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants::tests::eos;
    use crate::pricing::TIME;
    use odonata_declare::Values;
    use odonata_import::CommunicationGraph;
    use odonata_machine::topology::FatTree;
    use odonata_units::{Bytes, RankId};
    use odonata_workload::{JobSettings, JobSpec, PatternSpec, PlacementSpec, Work};
    use std::sync::Arc;

    fn job(name: &str, ranks: u32, idle: bool) -> JobSpec {
        JobSpec {
            name: name.into(),
            ranks,
            settings: JobSettings { ranks_per_node: Some(2), idle, ..JobSettings::default() },
            work: Work::pattern(PatternSpec::parse("uniform").unwrap()),
            placement: PlacementSpec::parse("compact").unwrap(),
        }
    }

    /// Job a has two ranks on each of nodes 0, 1 and 2, three times these messages; job b is idle. Nodes 0 and 1 have
    /// one leaf switch. Node 2 has another one of the same pod: two more hops.
    fn prices(form: &dyn Pricing) -> PricingResult {
        let mut builder = FatTree { k: 4, ..FatTree::default() }.builder().unwrap();
        builder.cores_per_node = 2;
        let machine = builder.build().unwrap();
        let mut workload = Workload::build(&machine, &[job("a", 6, false), job("b", 2, true)], 1).unwrap();
        let messages = [(0, 1, 100), (0, 2, 300), (0, 4, 500), (5, 0, 50), (3, 0, 20)];
        let messages = messages.map(|(from, to, bytes)| (RankId(from), RankId(to), Bytes(bytes)));
        workload.jobs[0].pattern = Arc::new(CommunicationGraph::from_messages("by hand", 6, &messages).unwrap());
        workload.jobs[0].iterations = 3;
        form.price(&machine, &workload, &mut |_| true).unwrap()
    }

    fn common() -> CommonParameters {
        CommonParameters {
            hop: Some(Time::from_ns(500)),
            matching: Some(Time::from_ns(100)),
            on_node_alpha: Some(Time::from_us(1)),
            on_node_rate: Some(Rate::from_bits_per_s(16_000_000_000)),
        }
    }

    const GB_PER_S: Option<Rate> = Some(Rate::from_bits_per_s(8_000_000_000));

    /// Numbers of a column of times, in ns.
    fn ns(frame: &Frame, name: &str) -> Vec<f64> {
        let Some(Values::F64(values)) = frame.get(name) else { panic!("{name}") };
        values.iter().map(|s| (s * 1e15).round() / 1e6).collect()
    }

    /// Rank 0 sends two messages to other nodes and one on its node. It receives two.
    #[test]
    fn prices_of_ranks_by_hand() {
        let alpha = Some(Time::from_us(2));
        let postal = PostalForm { alpha, rate: GB_PER_S, common: common() };
        let max_rate = MaxRateForm {
            alpha,
            rate: GB_PER_S,
            node_rate: Some(Rate::from_bits_per_s(4_000_000_000)),
            common: common(),
        };
        let (latency, overhead, gap) = (Some(Time::from_us(3)), Some(Time::from_ns(400)), Some(Time::from_us(1)));
        let loggp = LogGpForm { latency, overhead, gap, rate: GB_PER_S, common: common() };
        let forms: [(&dyn Pricing, f64, f64); 3] = [
            // 2 + 2 us, and 1 us on the node; 800 B at 1 B/ns, and 100 B at 2 B/ns.
            (&postal, 5_000.0, 850.0),
            // The node sends 800 B at 0.5 B/ns.
            (&max_rate, 5_000.0, 1_650.0),
            // o + g + L, two receives of o, and 1 us on the node; the first byte of each message is in L.
            (&loggp, 400.0 + 1_000.0 + 3_000.0 + 800.0 + 1_000.0, 848.0),
        ];
        for (form, startup, bandwidth) in forms {
            let found = prices(form);
            let (name, ranks) = &found.table;
            assert_eq!(*name, "rank_costs");
            // Two hops of 500 ns for the message to node 2; 100 ns for 2 x 2 comparisons. Three iterations.
            let (hops, matching) = (1_000.0, 400.0);
            let total = startup + hops + bandwidth + matching;
            for (column, time) in
                [("startup_s", startup), ("hops_s", hops), ("bandwidth_s", bandwidth), ("matching_s", matching)]
            {
                assert_eq!(ns(ranks, column)[0], 3.0 * time, "{column}");
                let of_jobs = ns(&found.job_columns, column);
                assert!(of_jobs[0] == 3.0 * time && of_jobs[1].is_nan(), "{column}");
            }
            assert_eq!(ns(ranks, "rank_time_s")[0], 3.0 * total);
            assert_eq!(ns(&found.job_columns, TIME.name)[0], 3.0 * total);
            let times = ns(ranks, "rank_time_s");
            assert_eq!(times.len(), 8, "six ranks of a and two of b");
            let mean = times[..6].iter().sum::<f64>() / 6.0;
            assert!((ns(&found.job_columns, "rank_time_mean_s")[0] - mean).abs() < 1e-3);
            let ids = |name: &str| match ranks.get(name) {
                Some(Values::U32(ids)) => ids.clone(),
                other => panic!("{other:?}"),
            };
            assert_eq!(ids("job"), [0, 0, 0, 0, 0, 0, 1, 1]);
            assert_eq!(ids("rank"), [0, 1, 2, 3, 4, 5, 0, 1]);
            assert_eq!(ids("node"), [0, 0, 1, 1, 2, 2, 3, 3]);
        }
    }

    /// Missing parameters are those that were measured; given ones stay.
    #[test]
    fn missing_parameters_are_the_measured_ones() {
        let (alpha, hop) = (Some(Time::from_ns(238)), Some(Time::from_ns(416)));
        // 8 B in 0.858 ns; one of 16 busy threads.
        let rate = Some(Rate::from_bits_per_s((64.0 / 0.858e-9_f64).round() as u64));
        let busy = Some(Rate::from_bits_per_s(678_560_000 * 8));
        let of = |common: &CommonParameters| {
            assert_eq!((common.hop, common.matching), (hop, Some(Time::ZERO)));
            assert_eq!((common.on_node_alpha, common.on_node_rate), (alpha, busy));
        };
        let mut postal = PostalForm::default();
        postal.complete(&eos());
        of(&postal.common);
        assert_eq!((postal.alpha, postal.rate), (alpha, rate));
        let mut max_rate = MaxRateForm { rate: GB_PER_S, ..MaxRateForm::default() };
        max_rate.complete(&eos());
        of(&max_rate.common);
        assert_eq!((max_rate.alpha, max_rate.rate), (alpha, GB_PER_S));
        assert_eq!(max_rate.node_rate, Some(Rate::from_bits_per_s(128_000_000_000)));
        let mut loggp = LogGpForm::default();
        loggp.complete(&eos());
        of(&loggp.common);
        assert_eq!((loggp.latency, loggp.rate), (alpha, rate));
        assert_eq!((loggp.overhead, loggp.gap), (Some(Time::ZERO), Some(Time::ZERO)));
    }

    #[test]
    fn a_rate_of_zero_is_a_mistake() {
        let zero = Some(Rate::from_bits_per_s(0));
        let keys = |form: &dyn Pricing| form.mistakes().into_iter().map(|(key, _)| key).collect::<Vec<_>>();
        let common = || CommonParameters { on_node_rate: zero, ..CommonParameters::default() };
        assert_eq!(keys(&PostalForm { rate: zero, ..PostalForm::default() }), ["rate"]);
        assert_eq!(keys(&PostalForm { rate: GB_PER_S, common: common(), ..PostalForm::default() }), ["on_node_rate"]);
        let max_rate = MaxRateForm { rate: zero, node_rate: zero, common: common(), ..MaxRateForm::default() };
        assert_eq!(keys(&max_rate), ["node_rate", "rate", "on_node_rate"]);
        assert_eq!(keys(&LogGpForm { rate: zero, ..LogGpForm::default() }), ["rate"]);
        assert!(keys(&LogGpForm { rate: GB_PER_S, ..LogGpForm::default() }).is_empty());
    }
}
