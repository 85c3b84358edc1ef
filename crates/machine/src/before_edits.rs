//! Nodes of a machine before its edits.

/// Which nodes jobs could use before the first edit; nothing without edits. It belongs to no description of a machine, so
/// all are equal.
#[derive(Clone, Default, Debug)]
pub struct BeforeEdits(pub(crate) Option<Vec<bool>>);

impl PartialEq for BeforeEdits {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl BeforeEdits {
    /// Nothing if the number of nodes has changed since.
    pub(crate) fn of_nodes(self, count: usize) -> Self {
        Self(self.0.filter(|up| up.len() == count))
    }
}
