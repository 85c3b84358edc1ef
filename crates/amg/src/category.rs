//! Cache categories: whether the data of a rank's sparse product fit into its share of the cache.

const BYTES_PER_NONZERO: f64 = 12.0;
const BYTES_PER_ROW: f64 = 4.0;
const BYTES_PER_VALUE: f64 = 8.0;

/// How the data of a rank's sparse product fit into its share of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Matrix and source vector fit.
    Small,
    /// The vector fits.
    Medium,
    /// Neither fits.
    Large,
}

impl Category {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

/// The local problem of a rank with `rows` rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    matrix: f64,
    vector: f64,
}

impl Footprint {
    pub(crate) fn new(rows: f64, nonzeros_per_row: f64) -> Self {
        Self { matrix: rows * (nonzeros_per_row * BYTES_PER_NONZERO + BYTES_PER_ROW), vector: rows * BYTES_PER_VALUE }
    }

    pub(crate) fn category(self, cache: f64) -> Category {
        if self.matrix + self.vector <= cache {
            Category::Small
        } else if self.vector <= cache {
            Category::Medium
        } else {
            Category::Large
        }
    }

    /// Whether the problem is at least half-way from `category` to the next one.
    pub(crate) fn exceeds_midpoint(self, category: Category, cache: f64) -> bool {
        match category {
            Category::Small => self.matrix + self.vector > 0.5 * cache,
            Category::Medium => self.vector > 0.5 * cache,
            Category::Large => false,
        }
    }
}
