//! Bandwidths as cabling lists write them: the speeds of ports.

use super::infiniband::data_rate;
use odonata_units::{Quantity, Rate};

/// The bandwidth of a port: a rate with its unit, or a speed of Ethernet (`100G`, `100GE`, `1.6T`: Gb/s and Tb/s).
/// InfiniBand has its data rate (`4xEDR`; `EDR` has 4 lanes, `NDR200` as many as give 200 Gb/s).
///
/// # Errors
/// Another text; the message says what is expected.
pub(super) fn port_speed(text: &str) -> Result<Rate, String> {
    if let Some(rate) = ethernet(text).or_else(|| data_rate(text)).or_else(|| infiniband(text)) {
        return Ok(rate);
    }
    Quantity::rate(text)
        .map_err(|error| format!("{error}; or write the speed of a port like 100G, 100GbE, HDR, NDR200 or 4xEDR"))
}

fn ethernet(text: &str) -> Option<Rate> {
    let start = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = (text[..start].trim_end(), &text[start..]);
    let unit = match unit {
        "G" | "GE" | "GbE" | "GBE" => "Gb/s",
        "T" | "TE" | "TbE" | "TBE" => "Tb/s",
        _ => return None,
    };
    Quantity::rate(&format!("{number} {unit}")).ok()
}

/// A generation with 4 lanes, or with as many as give the number after it, as two ports of a split cable.
fn infiniband(text: &str) -> Option<Rate> {
    if let Some(rate) = data_rate(&format!("4x{text}")) {
        return Some(rate);
    }
    let split = text.find(|c: char| c.is_ascii_digit())?;
    let gb_per_s: u64 = text[split..].parse().ok()?;
    let of_lanes = |lanes: u32| data_rate(&format!("{lanes}x{}", &text[..split]));
    [1, 2, 4, 8].into_iter().filter_map(of_lanes).find(|rate| rate.bits_per_s() == gb_per_s * 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data rates of 4 lanes in volume 2 of the InfiniBand Architecture: QDR 32, EDR 100, HDR 200, NDR 400 Gb/s.
    #[test]
    fn speeds_of_sheets() {
        for (text, gb_per_s) in [
            ("100G", 100.0),
            ("100 G", 100.0),
            ("200GE", 200.0),
            ("25GbE", 25.0),
            ("1.6T", 1600.0),
            ("QDR", 32.0),
            ("EDR", 100.0),
            ("4xEDR", 100.0),
            ("EDR100", 100.0),
            ("HDR", 200.0),
            ("HDR100", 100.0),
            ("NDR", 400.0),
            ("NDR200", 200.0),
            ("XDR800", 800.0),
            ("100 Gb/s", 100.0),
            ("100Gbps", 100.0),
            ("25 GB/s", 200.0),
        ] {
            assert_eq!(port_speed(text), Ok(Rate::from_bits_per_s((gb_per_s * 1e9) as u64)), "{text}");
        }
    }

    /// Gigabytes and powers of two are no speeds of ports, and a lane of HDR has 50 Gb/s, so none gives 75.
    #[test]
    fn other_texts_are_refused() {
        for text in ["100", "100GB", "100GiB", "100X", "HDR75", "", "G", "-1G", "fast"] {
            let error = port_speed(text).unwrap_err();
            assert!(error.ends_with("or write the speed of a port like 100G, 100GbE, HDR, NDR200 or 4xEDR"), "{error}");
        }
    }
}
