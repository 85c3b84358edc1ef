//! Errors of the packet engine as errors of `[engine]`.

use super::settings;
use crate::engine::EngineError;
use odonata_memory::TooMuch;
use odonata_packet::PacketError;

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
    EngineError::Refused { key, reason }
}

pub(super) fn too_much(TooMuch { reason }: TooMuch) -> EngineError {
    EngineError::Refused { key: Some("memory_limit"), reason }
}
