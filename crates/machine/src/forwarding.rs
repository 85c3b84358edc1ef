//! What forwards the packets of a machine.

/// The mechanism of the hardware that chooses the ports of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ForwardingKind {
    /// Nothing is known about it.
    #[default]
    Unknown,
    /// Blue Gene: packets choose among the minimal directions of a torus at each router.
    BlueGene,
    /// Static tables of switches, written by a subnet manager (InfiniBand).
    Tables,
}
