//! Mail as bytes, for partitions of other processes.
//!
//! What travels beside packets (what is told of them, their ways, envelopes) stands in the mail's lists, so it travels with them.

use super::{Chunks, Letter, Mail, Outbox};
use crate::credit::Credit;
use crate::endpoint::Envelope;
use crate::packet::{PathHop, Told};
use odonata_checkpoint::{Damaged, Reader, Writer};
use odonata_routing::algorithm::Feedback;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

/// As a list of its entries, whatever chunks they are in.
impl<T: Serialize> Serialize for Chunks<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        self.iter().flatten().try_for_each(|entry| list.serialize_element(entry))?;
        list.end()
    }
}

/// The lists of a mail, in the order in which they are written.
type Lists =
    (Vec<Letter>, Vec<Told>, Vec<Vec<PathHop>>, Vec<u64>, Vec<Envelope>, Vec<(u32, Credit)>, Vec<(u32, u64, Feedback)>);

impl Mail {
    /// Writes everything in it.
    pub(crate) fn save(&self, into: &mut Writer) {
        let Self { packets, told, ways, entered, envelopes, credits, feedback } = self;
        into.put(&(packets, told, ways, entered, envelopes, credits, feedback));
    }
}

impl Outbox {
    /// Puts what [`Mail::save`] wrote behind what is in a mail.
    pub(crate) fn receive(&mut self, from: &mut Reader<'_>, mail: &mut Mail) -> Result<(), Damaged> {
        let (packets, told, ways, entered, envelopes, credits, feedback): Lists = from.get()?;
        packets.into_iter().for_each(|packet| mail.packets.push(packet, &mut self.spare_packets));
        credits.into_iter().for_each(|credit| mail.credits.push(credit, &mut self.spare_credits));
        mail.told.extend(told);
        mail.ways.extend(ways);
        mail.entered.extend(entered);
        mail.envelopes.extend(envelopes);
        mail.feedback.extend(feedback);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Packet, SEALED};
    use odonata_routing::algorithm::{Header, RouteState};
    use odonata_units::NodeId;

    fn header(n: u32) -> Header {
        Header { source: NodeId(n), destination: NodeId(n + 1), state: RouteState::default() }
    }

    fn letter(n: u64) -> Letter {
        let mut packet = Packet::new(header(n as u32), 100 + n as u32, (n, n + 1, n + 2));
        packet.beside = if n % 2 == 0 { SEALED } else { 0 };
        Letter::new(&packet, 7 * n as u32)
    }

    fn posted(numbers: std::ops::Range<u64>) -> Outbox {
        let mut outbox = Outbox::new(1);
        for n in numbers {
            outbox.to[0].packets.push(letter(n), &mut outbox.spare_packets);
            outbox.to[0].told.push(Told { elapsed_ns: n as f32, estimate_ns: f32::NAN });
            outbox.to[0].ways.push(vec![PathHop { port: n as u32, vc: 3 }; n as usize % 3]);
            if n % 2 == 0 {
                outbox.to[0].envelopes.push(Envelope { bytes: n, ..Envelope::default() });
            }
            outbox.credit(0, n as u32, Credit { at: n, bytes: 64, vc: 1 });
            let (source, destination) = (NodeId(n as u32), NodeId(0));
            outbox.feedback(0, n as u32, n, Feedback { source, destination, elapsed_ns: 0.5, estimate_ns: n as f32 });
        }
        outbox
    }

    /// What two others sent, one after the other, is what one would have sent; more than a chunk of it.
    #[test]
    fn what_comes_as_bytes_stands_behind_what_is_there() {
        let mut received = Mail::default();
        let mut outbox = Outbox::default();
        for part in [posted(0..70), posted(70..100)] {
            let mut bytes = Writer::default();
            part.to[0].save(&mut bytes);
            let bytes = bytes.into_bytes();
            let mut reader = Reader::new(&bytes);
            outbox.receive(&mut reader, &mut received).unwrap();
            reader.end().unwrap();
        }
        let all = posted(0..100);
        let told = |mail: &Mail| {
            let letters: Vec<Letter> = mail.packets().flatten().copied().collect();
            let credits: Vec<_> = mail.credits().flatten().copied().collect();
            format!("{letters:?} {:?} {:?} {:?} {credits:?} {:?}", mail.told, mail.ways, mail.envelopes, mail.feedback)
        };
        assert_eq!(told(&received), told(&all.to[0]));
        assert_eq!(received.packet_count(), 100);
    }
}
