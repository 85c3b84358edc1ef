//! `[output]`: the records of a run.

use odonata_declare::ParameterStruct;
use odonata_document::Section;
use odonata_engines::Output;
use std::sync::LazyLock;

/// The keys of `[output]`.
pub(super) static SECTION: LazyLock<Section> = LazyLock::new(|| {
    Section::new(
        "output",
        "Records of the run directory. A table that is switched off has its columns, but no rows.",
        Output::default().keys(),
    )
});
