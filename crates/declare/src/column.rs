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
    /// The unit of a column's numbers.
    pub enum Unit {
        Plain = "none": "no amount: an id, a text, true or false",
        Count = "count": "number of things",
        Bytes = "bytes": "bytes (1 MiB = 1,048,576 of them)",
        BytesPerS = "bytes-per-s": "bytes per second (1 GB/s = 10^9 of them)",
        Ps = "ps": "picoseconds",
        Ns = "ns": "nanoseconds",
        S = "s": "seconds",
        Share = "share": "part of a whole; 1 is all of it",
        Ratio = "ratio": "one amount over another",
        Hops = "hops": "links from router to router",
    }
}

words! {
    /// How the values of several rows become one, for example over all links of a group or all jobs of an interval.
    pub enum Merge {
        Key = "key": "identifies the row",
        Attribute = "attribute": "describes one row only; several rows have no common value",
        Sum = "sum": "the sum of several rows",
        Max = "max": "the maximum of several rows",
        Mean = "mean": "the mean of several rows, weighted by another column if one is named",
        Last = "last": "a state: the value of the last time",
    }
}

words! {
    /// The meaning of a column for readers that do not know its name.
    pub enum Role {
        JobTime = "job-time": "time of a job; if several columns have this role, the last one with a value",
    }
}

impl Merge {
    /// Whether a column is a measure, so that several rows have a common value.
    pub const fn is_measure(self) -> bool {
        match self {
            Self::Key | Self::Attribute => false,
            Self::Sum | Self::Max | Self::Mean | Self::Last => true,
        }
    }
}

/// Stands for the machine's axes in a column name: `source_<axis>` is `source_group`, `source_row`, ...
pub const AXIS: &str = "<axis>";

/// The declaration of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Name in the file; [`AXIS`] in it stands for each axis of the machine.
    pub name: &'static str,
    /// Type of the values.
    pub kind: Type,
    /// Unit of the numbers.
    pub unit: Unit,
    /// Aggregation of several rows.
    pub merge: Merge,
    /// Column that weights the mean; without one, every row counts the same.
    pub weight: Option<&'static str>,
    /// A few words for a heading or a choice.
    pub label: &'static str,
    /// Meaning, in one or two sentences.
    pub doc: &'static str,
    /// Engine that fills it; `None` for every engine.
    pub engine: Option<&'static str>,
    /// Condition in the experiment file, for example `record_channels = true`.
    pub under: Option<&'static str>,
    /// For an id: the table whose rows it counts.
    pub of: Option<&'static str>,
    /// When a row has no value.
    pub missing: Option<&'static str>,
    /// Whether summaries show the column without a request.
    pub headline: bool,
    /// Role by which readers find the column in every engine.
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

    /// A column that identifies the row.
    pub const fn key(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Key, name, kind, unit, label, doc)
    }

    /// A column that describes one row only.
    pub const fn attribute(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Attribute, name, kind, unit, label, doc)
    }

    /// A column that is aggregated by its sum.
    pub const fn sum(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Sum, name, kind, unit, label, doc)
    }

    /// A column that is aggregated by its maximum.
    pub const fn max(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Max, name, kind, unit, label, doc)
    }

    /// A column that is aggregated by its mean, weighted after [`weighted_by`](Self::weighted_by).
    pub const fn mean(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Mean, name, kind, unit, label, doc)
    }

    /// A column of states; the last one counts.
    pub const fn last(name: &'static str, kind: Type, unit: Unit, label: &'static str, doc: &'static str) -> Self {
        Self::new(Merge::Last, name, kind, unit, label, doc)
    }

    /// Sets the column that weights the mean.
    #[must_use]
    pub const fn weighted_by(mut self, weight: &'static str) -> Self {
        assert!(matches!(self.merge, Merge::Mean), "only a mean has weights");
        self.weight = Some(weight);
        self
    }

    /// Sets the condition in the experiment file.
    #[must_use]
    pub const fn under(mut self, under: &'static str) -> Self {
        self.under = Some(under);
        self
    }

    /// Marks the values as row ids of a table.
    #[must_use]
    pub const fn of(mut self, table: &'static str) -> Self {
        self.of = Some(table);
        self
    }

    /// States when a row has no value: NaN in the engine, null in the file.
    #[must_use]
    pub const fn missing(mut self, when: &'static str) -> Self {
        self.missing = Some(when);
        self
    }

    /// Shows the column in summaries.
    #[must_use]
    pub const fn headline(mut self) -> Self {
        self.headline = true;
        self
    }

    /// Sets the role.
    #[must_use]
    pub const fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }
}
