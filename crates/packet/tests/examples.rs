//! The examples give their stated results.

#[path = "../examples/ping_pong.rs"]
mod ping_pong;

#[test]
fn a_message_bounces_at_the_computed_times() {
    ping_pong::main();
}
