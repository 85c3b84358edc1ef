//! Closed forms: parameters, and the price of a workload.

use crate::{Constants, ModelError};
use odonata_declare::{Column, Frame, ParameterStruct, Role, Table, Type, Unit};
use odonata_machine::Machine;
use odonata_units::JobId;
use odonata_workload::{Workload, WorkloadError};
use serde_json::{Map, Value};

/// A closed form with its parameters.
pub trait Pricing: ParameterStruct {
    /// Invalid parameters: the key and the reason.
    fn mistakes(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Fills parameters that are not given from measured constants.
    fn complete(&mut self, constants: &Constants);

    /// Checks whether the form can price a workload. Requires [`Pricing::complete`].
    ///
    /// # Errors
    /// The errors of [`Pricing::price`].
    fn check(&self, workload: &Workload) -> Result<(), PricingError>;

    /// Prices the jobs. Requires [`Pricing::complete`]. `progress` receives the completed share and returns false to
    /// stop.
    ///
    /// # Errors
    /// A workload that the form cannot price, or `progress` returned false.
    fn price(
        &self,
        machine: &Machine,
        workload: &Workload,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<PricingResult, PricingError>;

    /// Columns that the form adds to the table of jobs.
    fn job_columns(&self) -> Vec<Column>;

    /// The form's own table.
    fn table(&self) -> Table;
}

/// When a job has no price.
pub(crate) const IDLE: &str = "the job is idle";

/// Time of a job, in every form.
pub const TIME: Column = Column::max(
    "predicted_time_s",
    Type::F64,
    Unit::S,
    "Time",
    "Predicted time of the slowest rank, or of the cycle in the first scenario.",
)
.missing(IDLE)
.role(Role::JobTime)
.headline();

/// Prices of the jobs.
#[derive(Clone, Debug)]
pub struct PricingResult {
    /// The form's table.
    pub table: (&'static str, Frame),
    /// The form's columns of the table of jobs.
    pub job_columns: Frame,
    /// Summary, in addition to the form's name.
    pub summary: Map<String, Value>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Why a form cannot price a workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PricingError {
    /// An invalid input.
    InvalidInput {
        /// The key, if the input is a key.
        key: Option<&'static str>,
        /// The reason and a remedy.
        reason: String,
    },
    /// An invalid job.
    Job(JobId, WorkloadError),
    /// The caller stopped.
    Interrupted,
}

impl From<ModelError> for PricingError {
    fn from(error: ModelError) -> Self {
        Self::InvalidInput { key: None, reason: error.to_string() }
    }
}
