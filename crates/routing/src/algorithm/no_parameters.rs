//! Algorithms without settings.

use odonata_declare::{Parameter, Parameters};

/// The parameters of an algorithm that has none.
#[derive(Clone, Copy, Debug)]
pub struct NoParameters;

impl Parameters for NoParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}
