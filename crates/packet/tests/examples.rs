//! The examples keep what they promise.

#[path = "../examples/ping_pong.rs"]
mod ping_pong;

#[test]
fn a_message_is_thrown_to_and_fro_as_computed() {
    ping_pong::main();
}
