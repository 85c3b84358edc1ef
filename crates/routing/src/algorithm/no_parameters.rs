//! Algorithms without parameters.

use odonata_declare::{Parameter, Parameters};

/// The parameters of an algorithm without parameters.
#[derive(Clone, Copy, Debug)]
pub struct NoParameters;

impl Parameters for NoParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}
