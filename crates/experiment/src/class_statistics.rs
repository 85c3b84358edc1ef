//! Statistics of the bytes on the links of each class: for the summary of a run, and for Python.
//!
//! All links count, also those without traffic. Percentile p is the value at rank ceil(p/100 n) of n. The viewer computes
//! the same of a selection (`viewer/src/data/stats.ts`); `viewer/browser/machines.browser.ts` compares both.

use serde::Serialize;

/// Statistics of one class, or of `all`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClassStatistics {
    /// Name of the class.
    pub class: String,
    /// Number of links.
    pub links: usize,
    /// Total bytes.
    pub bytes_sum: f64,
    /// Mean bytes.
    pub bytes_mean: f64,
    /// Maximum.
    pub bytes_max: f64,
    /// Median.
    pub bytes_p50: f64,
    /// 90th percentile.
    pub bytes_p90: f64,
    /// 99th percentile.
    pub bytes_p99: f64,
    /// Number of links with traffic.
    pub loaded_links: usize,
}

/// The classes of a machine with the number of their links.
#[derive(Clone, Debug)]
pub struct LinkClasses {
    names: Vec<String>,
    links: Vec<usize>,
}

impl LinkClasses {
    /// Classes from the index of each link's class.
    pub fn new(names: Vec<String>, class_of: impl IntoIterator<Item = usize>) -> Self {
        let mut links = vec![0; names.len()];
        for class in class_of {
            links[class] += 1;
        }
        Self { names, links }
    }

    /// Statistics of `all` and then of each class, from the class and bytes of each link. Links without traffic may be
    /// left out. Bytes are not negative.
    pub fn statistics(&self, bytes: impl IntoIterator<Item = (usize, f64)>) -> Vec<ClassStatistics> {
        let mut loaded = vec![Vec::new(); self.names.len()];
        for (class, bytes) in bytes.into_iter().filter(|&(_, bytes)| bytes != 0.0) {
            loaded[class].push(bytes);
        }
        let all = of_class("all", self.links.iter().sum(), loaded.concat());
        let classes = self.names.iter().zip(&self.links).zip(loaded);
        std::iter::once(all).chain(classes.map(|((name, &links), loaded)| of_class(name, links, loaded))).collect()
    }
}

/// Statistics of `links` links, of which those with traffic have the bytes `loaded`.
fn of_class(class: &str, links: usize, mut loaded: Vec<f64>) -> ClassStatistics {
    loaded.sort_unstable_by(f64::total_cmp);
    // The sum of nothing is -0.0, which would be shown.
    let sum = loaded.iter().sum::<f64>() + 0.0;
    ClassStatistics {
        class: class.into(),
        links,
        bytes_sum: sum,
        bytes_mean: if links == 0 { 0.0 } else { sum / links as f64 },
        bytes_max: loaded.last().copied().unwrap_or(0.0),
        bytes_p50: percentile(50, links, &loaded),
        bytes_p90: percentile(90, links, &loaded),
        bytes_p99: percentile(99, links, &loaded),
        loaded_links: loaded.len(),
    }
}

/// The value at rank ceil(p/100 n) of n values of which the ones above zero are given, ascending.
fn percentile(p: usize, n: usize, loaded: &[f64]) -> f64 {
    let rank = (p * n).div_ceil(100).max(1);
    let zeros = n - loaded.len();
    if n == 0 || rank <= zeros {
        0.0
    } else {
        loaded[rank - zeros - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten values 0 0 0 0 1 2 3 4 5 6: ranks 5, 9 and 10 hold 1, 5 and 6.
    #[test]
    fn zeros_count() {
        let of = of_class("blue", 10, vec![6.0, 2.0, 3.0, 4.0, 5.0, 1.0]);
        assert_eq!((of.bytes_p50, of.bytes_p90, of.bytes_p99), (1.0, 5.0, 6.0));
        assert_eq!((of.bytes_mean, of.bytes_max, of.loaded_links), (2.1, 6.0, 6));
    }

    #[test]
    fn a_class_without_links_or_traffic_is_all_zero() {
        for links in [0, 7] {
            let of = of_class("blue", links, Vec::new());
            let numbers = [of.bytes_sum, of.bytes_mean, of.bytes_max, of.bytes_p50, of.bytes_p90, of.bytes_p99];
            assert!(numbers.iter().all(|number| *number == 0.0 && number.is_sign_positive()), "{of:?}");
        }
    }
}
