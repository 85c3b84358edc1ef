//! Errors of the packet engine as refusals with a key.

use super::settings;
use crate::engine::EngineError;
use odonata_memory::TooMuch;
use odonata_packet::PacketError;

/// Why the engine refuses a scenario, with the key that is to blame.
pub(super) fn refused(error: &PacketError) -> EngineError {
    let (key, reason) = match error {
        PacketError::Settings(e) => (Some(e.setting.as_str()), e.reason.clone()),
        PacketError::Routing(odonata_routing::algorithm::RoutingError::Setting { setting, reason }) => {
            (Some(setting.as_str()), reason.clone())
        }
        PacketError::Routing(e) => (Some("routing"), e.to_string()),
        PacketError::Deadlock { .. } => (Some("routing"), error.to_string()),
        PacketError::Unreachable(e) => (None, e.to_string()),
        PacketError::ZeroLatency { pipeline, .. } => (Some(*pipeline), error.to_string()),
    };
    let name = key.map(|k| k.rsplit('.').next().unwrap_or(k));
    let key = name.and_then(settings::known);
    match (key, error) {
        // A setting of another section.
        (None, PacketError::Settings(error)) => EngineError::Refused { key, reason: error.to_string() },
        _ => EngineError::Refused { key, reason },
    }
}

pub(super) fn too_much(TooMuch { reason }: TooMuch) -> EngineError {
    EngineError::Refused { key: Some("memory_limit"), reason }
}
