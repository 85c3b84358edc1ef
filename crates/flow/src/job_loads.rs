//! Bytes of one job on the links that it uses.
//!
//! A machine may run thousands of jobs, each on a few of its links. So a job keeps its own links only.

use odonata_units::LinkId;

/// Links with bytes of a job, ascending.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct JobLoads(Vec<(LinkId, f64)>);

impl JobLoads {
    /// From bytes by link, or by another resource with numbers.
    pub(crate) fn of(dense: impl IntoIterator<Item = f64>) -> Self {
        let loaded = (0..).map(LinkId).zip(dense).filter(|(_, bytes)| *bytes > 0.0);
        let mut loads: Vec<_> = loaded.collect();
        loads.shrink_to_fit();
        Self(loads)
    }

    /// From pairs of link and bytes in any order; a link may occur several times.
    pub(crate) fn sum_of(mut parts: Vec<(LinkId, f64)>) -> Self {
        parts.sort_by_key(|(link, _)| *link);
        parts.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        parts.retain(|(_, bytes)| *bytes > 0.0);
        Self(parts)
    }

    /// Loaded links with their bytes, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (LinkId, f64)> + '_ {
        self.0.iter().copied()
    }

    /// Sum over all links.
    pub(crate) fn total(&self) -> f64 {
        // The sum of an empty list is -0.0.
        self.0.iter().map(|(_, bytes)| bytes).sum::<f64>() + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_summed_by_link() {
        let link = |id: u32, bytes: f64| (LinkId(id), bytes);
        let loads = JobLoads::sum_of(vec![link(7, 1.0), link(2, 2.0), link(7, 4.0), link(3, 0.0)]);
        assert_eq!(loads, JobLoads::of([0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 5.0]));
        assert_eq!((loads.total(), JobLoads::default().total().to_bits()), (7.0, 0));
    }
}
