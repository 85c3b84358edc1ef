//! A column of a table of the run directory.

use crate::words;

words! {
    /// The type of a column's values, as the reference names it.
    pub enum Type {
        U16 = "u16": "whole number below 2^16",
        U32 = "u32": "whole number below 2^32",
        U64 = "u64": "whole number below 2^64",
        I32 = "i32": "whole number, also below zero",
        F64 = "f64": "floating-point number of 64 bits",
        Bool = "bool": "true or false",
        Text = "str": "text",
        Coded = "dictionary str": "text of few distinct values, each stored once",
        Lists = "list u32": "list of whole numbers",
    }
}

words! {
    /// What the numbers of a column are.
    pub enum Unit {
        Plain = "none": "no amount: ids, texts, true or false",
        Count = "count": "how many",
        Bytes = "bytes": "bytes (1 MiB = 1,048,576 of them)",
        BytesPerS = "bytes-per-s": "bytes per second (1 GB/s = 10^9 of them)",
        Ps = "ps": "picoseconds",
        Ns = "ns": "nanoseconds",
        S = "s": "seconds",
        Share = "share": "part of a whole, 1 is all of it",
        Ratio = "ratio": "one amount over another",
        Hops = "hops": "links from router to router",
    }
}

words! {
    /// What several rows are together, as all links of a group or all jobs in an interval.
    pub enum Merge {
        Key = "key": "says which row it is",
        Attribute = "attribute": "says something of the row alone; of several rows there is no such value",
        Sum = "sum": "of several rows it adds up",
        Max = "max": "of several rows the largest counts",
        Mean = "mean": "of several rows the mean counts, weighted by another column or, without one, every row alike",
        Last = "last": "a state: of several times the last counts",
    }
}

words! {
    /// What a column is to readers that do not know its name.
    pub enum Role {
        JobTime = "job-time": "time of a job; of several such columns, the last one with a value",
    }
}

impl Merge {
    /// Whether a column is a measure: one whose values are something for several rows, too.
    pub const fn is_measure(self) -> bool {
        match self {
            Self::Key | Self::Attribute => false,
            Self::Sum | Self::Max | Self::Mean | Self::Last => true,
        }
    }
}

/// Stands for the machine's axes in the name of a column: `source_<axis>` is `source_group`, `source_row`, ...
pub const AXIS: &str = "<axis>";

/// What there is to know of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Its name in the file; [`AXIS`] in it stands for each axis of the machine.
    pub name: &'static str,
    /// The type of its values.
    pub kind: Type,
    /// What its numbers are.
    pub unit: Unit,
    /// What several rows are together.
    pub merge: Merge,
    /// The column that a mean is weighted by; every row alike without one.
    pub weight: Option<&'static str>,
    /// A few words for a heading or a choice.
    pub label: &'static str,
    /// What it means, in a sentence or two.
    pub doc: &'static str,
    /// The engine that fills it; every engine if none is named.
    pub engine: Option<&'static str>,
    /// What the experiment must say for the column to be there, as `record_channels = true`.
    pub under: Option<&'static str>,
    /// Of an id: the table whose rows it counts.
    pub of: Option<&'static str>,
    /// When a row has no value.
    pub missing: Option<&'static str>,
    /// Whether summaries show it, where nobody asked for this column.
    pub headline: bool,
    /// Its role, by which readers find it in every engine.
    pub role: Option<Role>,
}

impl Column {
    const fn new(
        merge: Merge,
        name: &'static str,
        kind: Type,
        unit: Unit,
        label: &'static str,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            unit,
            merge,
            weight: None,
            label,
            doc,
            engine: None,
            under: None,
            of: None,
            missing: None,
            headline: false,
            role: None,
        }
    }

    /// A column that says which row it is.
    pub const fn key(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Key, name, kind, unit, label, doc)
    }

    /// A column that says something of the row alone.
    pub const fn attribute(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Attribute, name, kind, unit, label, doc)
    }

    /// A column that adds up.
    pub const fn sum(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Sum, name, kind, unit, label, doc)
    }

    /// A column of which the largest value counts.
    pub const fn max(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Max, name, kind, unit, label, doc)
    }

    /// A column of which the mean counts; every row alike unless it is [`weighted_by`](Self::weighted_by) another.
    pub const fn mean(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Mean, name, kind, unit, label, doc)
    }

    /// A column of states, of which the last counts.
    pub const fn last(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Last, name, kind, unit, label, doc)
    }

    /// The mean is weighted by the column of this name.
    #[must_use]
    pub const fn weighted_by(mut self, weight: &'static str) -> Self {
        assert!(matches!(self.merge, Merge::Mean), "only a mean has weights");
        self.weight = Some(weight);
        self
    }

    /// It is there only if the experiment says so.
    #[must_use]
    pub const fn under(mut self, under: &'static str) -> Self {
        self.under = Some(under);
        self
    }

    /// It holds ids of rows of the table of this name.
    #[must_use]
    pub const fn of(mut self, table: &'static str) -> Self {
        self.of = Some(table);
        self
    }

    /// When a row has no value: NaN in the engine, null in the file.
    #[must_use]
    pub const fn missing(mut self, when: &'static str) -> Self {
        self.missing = Some(when);
        self
    }

    /// Summaries show it.
    #[must_use]
    pub const fn headline(mut self) -> Self {
        self.headline = true;
        self
    }

    /// Readers find it by this role.
    #[must_use]
    pub const fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }
}
