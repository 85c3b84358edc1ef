//! What a closed form is: parameters, and the price of a workload under them.

use crate::{Constants, ModelError};
use odonata_declare::{Column, Frame, ParameterStruct, Role, Table, Type, Unit};
use odonata_machine::Machine;
use odonata_units::JobId;
use odonata_workload::{Workload, WorkloadError};
use serde_json::{Map, Value};

/// A closed form with its parameters.
pub trait Pricing: ParameterStruct {
    /// What of its parameters can't be: the key, and a sentence.
    fn mistakes(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Takes from measured constants what its parameters leave open.
    fn complete(&mut self, constants: &Constants);

    /// Whether it can price a workload, without doing it. It must be complete.
    ///
    /// # Errors
    /// What [`Pricing::price`] would refuse.
    fn check(&self, workload: &Workload) -> Result<(), PricingError>;

    /// Prices the jobs. It must be complete. `progress` is told the share that is done, and returns false to stop.
    ///
    /// # Errors
    /// What the form refuses, and `progress` returning false.
    fn price(
        &self,
        machine: &Machine,
        workload: &Workload,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<PricingResult, PricingError>;

    /// The columns that it adds to the table of jobs.
    fn job_columns(&self) -> Vec<Column>;

    /// Its own table.
    fn table(&self) -> Table;
}

/// The time of a job, which every form says.
pub const TIME: Column = Column::max(
    "predicted_time_s",
    Type::F64,
    Unit::S,
    "Time",
    "Time of its slowest rank, or of its cycle in the first of the scenarios.",
)
.role(Role::JobTime)
.headline();

/// What a form says of the jobs.
#[derive(Clone, Debug)]
pub struct PricingResult {
    /// Its table.
    pub table: (&'static str, Frame),
    /// Its columns of the table of jobs.
    pub job_columns: Frame,
    /// What it has for the summary beside its name.
    pub summary: Map<String, Value>,
    /// What the user must not miss.
    pub warnings: Vec<String>,
}

/// Why a form prices nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PricingError {
    /// What it is given can't be priced: which key, if it is one, and why.
    InvalidInput {
        /// The key.
        key: Option<&'static str>,
        /// Why, and what to do.
        reason: String,
    },
    /// A job can't be priced: its mistake.
    Job(JobId, WorkloadError),
    /// The caller asked to stop.
    Interrupted,
}

impl From<ModelError> for PricingError {
    fn from(error: ModelError) -> Self {
        Self::InvalidInput { key: None, reason: error.to_string() }
    }
}
