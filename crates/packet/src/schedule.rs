//! Times of a run.

use odonata_declare::parameters;
use odonata_units::Time;

parameters! {
    /// Times of a run.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Schedule {
        /// Open traffic: simulated time before the measurement.
        #[decides(result)]
        pub warm_up: Time = Time::from_us(20);
        /// Open traffic: length of the measurement.
        #[decides(result)]
        pub measure: Time = Time::from_us(50);
        /// Open traffic: maximum time to wait for the packets created in the measurement.
        pub drain: Time = Time::from_us(100);
    }
}

/// Longest simulated time, 53 days: sums of a few such times still fit in 64 bits.
const LONGEST: Time = Time(1 << 62);

impl Schedule {
    /// Everything is measured, until the jobs end, or the limit if there is one.
    pub fn until_jobs_end(limit: Option<Time>) -> Self {
        Self { warm_up: Time::ZERO, measure: limit.map_or(LONGEST, |limit| limit.min(LONGEST)), drain: Time::ZERO }
    }

    /// Whether only the jobs end the run.
    pub fn is_unlimited(&self) -> bool {
        self.measure == LONGEST
    }
}
