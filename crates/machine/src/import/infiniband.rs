//! The switches and adapters in the output of `ibnetdiscover`, and the speeds of InfiniBand.

use odonata_units::Rate;
use std::collections::HashMap;

/// A port of a switch and what is at the other end.
pub(super) struct End<'a> {
    pub(super) line: usize,
    pub(super) port: u32,
    pub(super) peer: &'a str,
    pub(super) peer_port: u32,
    pub(super) speed: &'a str,
    /// Description of the other end.
    pub(super) description: Option<&'a str>,
    /// LID of the other end.
    pub(super) lid: Option<u32>,
}

/// A switch and what is at its ports.
pub(super) struct Switch<'a> {
    pub(super) line: usize,
    pub(super) guid: &'a str,
    /// Ports, used or not.
    pub(super) ports: u32,
    pub(super) description: Option<&'a str>,
    pub(super) lid: Option<u32>,
    pub(super) ends: Vec<End<'a>>,
}

/// What the file says about an adapter in its own block.
#[derive(Clone, Copy, Default)]
pub(super) struct Adapter<'a> {
    pub(super) device: Option<u32>,
    pub(super) description: Option<&'a str>,
}

/// The switches, and the adapters by GUID.
pub(super) struct Fabric<'a> {
    pub(super) switches: Vec<Switch<'a>>,
    pub(super) adapters: HashMap<&'a str, Adapter<'a>>,
}

/// The switches with their ports, in the order of the file, and the adapters of the blocks `Ca`.
pub(super) fn fabric(text: &str) -> Result<Fabric<'_>, (usize, String)> {
    let mut switches: Vec<Switch<'_>> = Vec::new();
    let mut adapters = HashMap::new();
    let mut device = None;
    let mut in_switch = false;
    for (at, content) in (1..).zip(text.lines()) {
        let content = content.trim_end();
        if let Some(rest) = content.strip_prefix("Switch").filter(|rest| rest.starts_with(char::is_whitespace)) {
            let ports = rest.split('"').next().and_then(|number| number.trim().parse().ok());
            let (Some((guid, rest)), Some(ports)) = (quoted(rest), ports) else {
                return Err((at, "expected 'Switch', the number of ports and a GUID in quotes".into()));
            };
            if switches.iter().any(|switch| switch.guid == guid) {
                return Err((at, format!("switch {guid} is listed twice")));
            }
            switches.push(Switch {
                line: at,
                guid,
                ports,
                description: quoted(rest).map(|(words, _)| words),
                lid: quoted(rest).and_then(|(_, rest)| lid_in(rest)),
                ends: Vec::new(),
            });
            in_switch = true;
        } else if let Some(id) = content.strip_prefix("devid=0x") {
            device = u32::from_str_radix(id, 16).ok();
        } else if content.starts_with("Ca") || content.starts_with("Rt") || content.is_empty() {
            in_switch = false;
            if let Some((guid, rest)) = quoted(content) {
                adapters.insert(guid, Adapter { device, description: quoted(rest).map(|(words, _)| words) });
            }
        } else if in_switch && content.starts_with('[') {
            let end = end(at, content).ok_or_else(|| {
                (at, "expected a port as '[1] \"S-0002c9020040f168\"[3] # \"name\" lid 2 4xQDR'".to_owned())
            })?;
            switches.last_mut().expect("the file is in one").ends.push(end);
        }
    }
    Ok(Fabric { switches, adapters })
}

/// The text between the next two quotes, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.split_once('"')?.1.split_once('"')
}

fn end(line: usize, content: &str) -> Option<End<'_>> {
    let (port, rest) = content.strip_prefix('[')?.split_once(']')?;
    let (peer, rest) = quoted(rest)?;
    let (peer_port, rest) = rest.strip_prefix('[')?.split_once(']')?;
    let speed = rest.split_whitespace().next_back()?;
    let described = rest.split_once('#').and_then(|(_, rest)| quoted(rest));
    let (description, lid) = (described.map(|(words, _)| words), described.and_then(|(_, rest)| lid_in(rest)));
    Some(End { description, lid, line, port: port.parse().ok()?, peer, peer_port: peer_port.parse().ok()?, speed })
}

/// The LID in `enhanced port 0 lid 1 lmc 0` or `lid 4 4xQDR`.
fn lid_in(text: &str) -> Option<u32> {
    text.split_whitespace().skip_while(|word| *word != "lid").nth(1)?.parse().ok()
}

/// Data rate in bits per second of a width and a speed, in each direction.
pub(super) fn data_rate(speed: &str) -> Option<Rate> {
    let (lanes, generation) = speed.split_once('x')?;
    let lanes: u64 = lanes.parse().ok().filter(|lanes| [1, 2, 4, 8, 12].contains(lanes))?;
    // Signalling rate of a lane in kb/s, and the share of data bits (InfiniBand Architecture, volume 2).
    let (signals, data, of) = match generation {
        "SDR" => (2_500_000, 8, 10),
        "DDR" => (5_000_000, 8, 10),
        "QDR" => (10_000_000, 8, 10),
        "FDR10" => (10_312_500, 64, 66),
        "FDR" => (14_062_500, 64, 66),
        "EDR" => (25_781_250, 64, 66),
        // Four signal levels, and an error code; sold as 50, 100 and 200 Gb/s of data per lane.
        "HDR" => (50_000_000, 1, 1),
        "NDR" => (100_000_000, 1, 1),
        "XDR" => (200_000_000, 1, 1),
        _ => return None,
    };
    Some(Rate::from_bits_per_s(lanes * signals * 1000 / of * data))
}

/// The reason that a speed is refused.
pub(super) fn unknown_speed(speed: &str) -> String {
    format!(
        "speed '{speed}'; expected a width and a speed such as 4xQDR: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data rates of 4 lanes in Gb/s, from volume 2 of the InfiniBand Architecture. FDR: 14.0625 Gb/s per lane, of which
    /// 64 of 66 bits are data, 54.5 Gb/s of 4 lanes.
    #[test]
    fn data_rates_of_all_generations() {
        for (speed, gb_per_s) in [
            ("1xSDR", 2.0),
            ("4xSDR", 8.0),
            ("4xDDR", 16.0),
            ("4xQDR", 32.0),
            ("12xQDR", 96.0),
            ("4xFDR10", 40.0),
            ("4xFDR", 4.0 * 14.0625 * 64.0 / 66.0),
            ("4xEDR", 100.0),
            ("2xHDR", 100.0),
            ("4xHDR", 200.0),
            ("4xNDR", 400.0),
            ("4xXDR", 800.0),
        ] {
            let found = data_rate(speed).unwrap().bits_per_s() as f64;
            assert!((found / (gb_per_s * 1e9) - 1.0).abs() < 1e-6, "{speed}: {found}");
        }
        assert_eq!(data_rate("3xEDR"), None, "a port has 1, 2, 4, 8 or 12 lanes");
        assert_eq!(data_rate("4xADR"), None);
    }
}
