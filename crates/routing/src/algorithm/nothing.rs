//! Algorithms without settings.

use odonata_declare::{Parameter, Parameters};

/// The parameters of an algorithm that has none.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Parameters for Nothing {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}
