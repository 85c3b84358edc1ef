//! Cost of the cables.

use super::Metrics;
use crate::names::unknown;
use crate::MachineError;

/// Cost of the cables, in the currency of the prices.
#[derive(Clone, PartialEq, Debug)]
pub struct CableCost {
    /// Class, cables, and their cost.
    pub classes: Vec<(String, usize, f64)>,
    /// Sum over the classes.
    pub total: f64,
    /// Classes with cables but without a price; the total does not include them.
    pub without_price: Vec<String>,
}

/// Cost of the cables, at the given price per cable (both directions) of each class.
///
/// # Errors
/// A price for an unknown class, a second price for a class, or a price that is negative or not finite.
pub fn cable_cost(metrics: &Metrics, prices: &[(String, f64)]) -> Result<CableCost, MachineError> {
    let mut cost = CableCost { classes: Vec::new(), total: 0.0, without_price: Vec::new() };
    for (i, (name, price)) in prices.iter().enumerate() {
        let wrong =
            |reason: &str| MachineError::Parameter { parameter: format!("price of {name}"), reason: reason.into() };
        if !metrics.classes.iter().any(|class| class.name == *name) {
            return Err(unknown("link class", name, metrics.classes.iter().map(|class| class.name.as_str())));
        }
        if !(price.is_finite() && *price >= 0.0) {
            return Err(wrong(&format!("{price} is not a price; expected a number from 0 up")));
        }
        if prices[..i].iter().any(|(before, _)| before == name) {
            return Err(wrong("is given twice"));
        }
    }
    for class in &metrics.classes {
        match prices.iter().find(|(name, _)| *name == class.name) {
            Some((name, price)) => {
                let sum = class.cables as f64 * price;
                cost.total += sum;
                cost.classes.push((name.clone(), class.cables, sum));
            }
            None if class.cables > 0 => cost.without_price.push(class.name.clone()),
            None => {}
        }
    }
    Ok(cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{metrics::measure, presets};

    /// Edison has 10,800 black and 2,520 blue cables.
    #[test]
    fn prices_are_per_cable() {
        let metrics = measure(&presets::builder("edison").unwrap().build().unwrap());
        let price = |name: &str, price| (name.to_owned(), price);
        let cost = cable_cost(&metrics, &[price("blue", 100.0), price("black", 10.0)]).unwrap();
        assert_eq!(cost.classes, [("black".to_owned(), 10_800, 108_000.0), ("blue".to_owned(), 2_520, 252_000.0)]);
        assert!((cost.total - 360_000.0).abs() < 1e-9);
        assert_eq!(cost.without_price, ["green"]);
        let message = cable_cost(&metrics, &[price("bleu", 1.0)]).unwrap_err().to_string();
        assert_eq!(message, "unknown link class 'bleu'; did you mean 'blue'?");
        assert!(cable_cost(&metrics, &[price("blue", -1.0)]).is_err());
        assert!(cable_cost(&metrics, &[price("blue", 1.0), price("blue", 2.0)]).is_err());
    }
}
