//! Mail as bytes, for partitions of other processes.
//!
//! Side data (hop estimates, paths, envelopes) is part of the mail's lists. Most bytes are packets and credits, so
//! they are copied as they are in memory. With `postcard` they took 43 instructions per byte, a seventh of all
//! instructions of a run in two processes (`dragonfly-1056`, PAR).

use super::{Mail, Outbox};
use crate::control::{Notice, NoticeKind};
use crate::credit::Credit;
use crate::endpoint::Envelope;
use crate::packet::PathHop;
use odonata_checkpoint::{DecodeError, Reader, Writer};
use odonata_routing::algorithm::Feedback;
use zerocopy::{Immutable, IntoBytes, TryFromBytes};

/// A port and its content, without padding.
#[derive(Clone, Copy, TryFromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
struct AtPort<T> {
    at: u64,
    port: u32,
    what: T,
}

/// A credit: bytes and virtual channel.
type Room = AtPort<[u8; 5]>;

impl Room {
    fn new(port: u32, credit: Credit) -> Self {
        let [a, b, c, d] = credit.bytes.to_ne_bytes();
        Self { at: credit.at, port, what: [a, b, c, d, credit.vc] }
    }

    fn credit(self) -> (u32, Credit) {
        let Self { at, port, what: [a, b, c, d, vc] } = self;
        (port, Credit { at, bytes: u32::from_ne_bytes([a, b, c, d]), vc })
    }
}

/// A notice: NIC of the destination, bytes, delay, kind, and class. The port is the receiving NIC.
type PackedNotice = AtPort<[u8; 18]>;

fn packed(nic: u32, Notice { at, destination, class, kind, bytes, delay_ps }: Notice) -> PackedNotice {
    let mut what = [0; 18];
    (what[16], what[17]) = (kind as u8, class);
    what[..4].copy_from_slice(&destination.to_ne_bytes());
    what[4..8].copy_from_slice(&bytes.to_ne_bytes());
    what[8..16].copy_from_slice(&delay_ps.to_ne_bytes());
    AtPort { at, port: nic, what }
}

fn unpacked(AtPort { at, port, what }: PackedNotice) -> Result<(u32, Notice), DecodeError> {
    let number = |from: usize| u32::from_ne_bytes([what[from], what[from + 1], what[from + 2], what[from + 3]]);
    let delay_ps = u64::from_ne_bytes(std::array::from_fn(|i| what[8 + i]));
    let kind = NoticeKind::ALL.get(usize::from(what[16])).ok_or_else(|| DecodeError("a notice of no kind".into()))?;
    Ok((port, Notice { at, destination: number(0), class: what[17], kind: *kind, bytes: number(4), delay_ps }))
}

/// Number of entries of each list, and the rare lists themselves: these take fewer bytes and more time.
type HeadOf<'a> = (usize, usize, usize, usize, usize, usize, &'a Vec<Vec<PathHop>>, &'a Vec<Envelope>);
type Head = (usize, usize, usize, usize, usize, usize, Vec<Vec<PathHop>>, Vec<Envelope>);

impl Mail {
    /// Writes the whole mail.
    pub(crate) fn save(&self, into: &mut Writer) {
        let Self { packets, hop_estimates, paths, entered, envelopes, credits, feedback, notices } = self;
        let head: HeadOf<'_> = (
            packets.len(),
            credits.len(),
            hop_estimates.len(),
            entered.len(),
            feedback.len(),
            notices.len(),
            paths,
            envelopes,
        );
        into.put(&head);
        packets.iter().for_each(|chunk| into.put_raw(chunk));
        credits.iter().flatten().for_each(|&(port, credit)| into.put_raw(&Room::new(port, credit)));
        into.put_raw(hop_estimates.as_slice());
        into.put_raw(entered.as_slice());
        feedback.iter().for_each(|&(port, at, what)| into.put_raw(&AtPort { at, port, what }));
        notices.iter().for_each(|&(nic, notice)| into.put_raw(&packed(nic, notice)));
    }
}

impl Outbox {
    /// Appends the mail that [`Mail::save`] wrote.
    pub(crate) fn receive(&mut self, from: &mut Reader<'_>, mail: &mut Mail) -> Result<(), DecodeError> {
        let (packets, credits, hop_estimates, entered, feedback, notices, paths, envelopes): Head = from.get()?;
        for packet in from.get_raw(packets)? {
            mail.packets.push(packet?, &mut self.spare_packets);
        }
        for credit in from.get_raw::<Room>(credits)? {
            mail.credits.push(credit?.credit(), &mut self.spare_credits);
        }
        for each in from.get_raw(hop_estimates)? {
            mail.hop_estimates.push(each?);
        }
        for each in from.get_raw(entered)? {
            mail.entered.push(each?);
        }
        for each in from.get_raw(feedback)? {
            let AtPort::<Feedback> { at, port, what } = each?;
            mail.feedback.push((port, at, what));
        }
        for each in from.get_raw::<PackedNotice>(notices)? {
            mail.notices.push(unpacked(each?)?);
        }
        mail.paths.extend(paths);
        mail.envelopes.extend(envelopes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::MailedPacket;
    use crate::packet::{HopEstimate, Packet, HAS_ENVELOPE};
    use odonata_routing::algorithm::{Header, RouteState};
    use odonata_units::NodeId;

    fn header(n: u32) -> Header {
        Header { source: NodeId(n), destination: NodeId(n + 1), state: RouteState::default() }
    }

    fn mailed(n: u64) -> MailedPacket {
        let mut packet = Packet::new(header(n as u32), 100 + n as u32, n, n + 1, n + 2);
        packet.overhead = if n % 2 == 0 { HAS_ENVELOPE } else { 0 };
        MailedPacket::new(&packet, 7 * n as u32)
    }

    fn posted(numbers: std::ops::Range<u64>) -> Outbox {
        let mut outbox = Outbox::new(1);
        for n in numbers {
            outbox.to[0].packets.push(mailed(n), &mut outbox.spare_packets);
            outbox.to[0].hop_estimates.push(HopEstimate { elapsed_ns: n as f32, estimate_ns: f32::NAN, note: n << 40 });
            outbox.to[0].paths.push(vec![PathHop { port: n as u32, vc: 3 }; n as usize % 3]);
            if n % 2 == 0 {
                outbox.to[0].envelopes.push(Envelope { bytes: n, ..Envelope::default() });
            }
            outbox.credit(0, n as u32, Credit { at: n, bytes: 64, vc: 1 });
            let (source, destination) = (NodeId(n as u32), NodeId(0));
            let feedback = Feedback { source, destination, elapsed_ns: 0.5, estimate_ns: n as f32, note: n << 50 };
            outbox.feedback(0, n as u32, n, feedback);
            let kind = NoticeKind::ALL[n as usize % 6];
            outbox.notice(
                0,
                n as u32,
                Notice { at: n, destination: n as u32 + 1, class: 3, kind, bytes: 64, delay_ps: n << 40 },
            );
        }
        outbox
    }

    /// The mail of two senders, one after the other, equals the mail of one sender; it spans several chunks.
    #[test]
    fn received_mail_is_appended() {
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
        let text = |mail: &Mail| {
            let mailed: Vec<MailedPacket> = mail.packets().flatten().copied().collect();
            let credits: Vec<_> = mail.credits().flatten().copied().collect();
            format!(
                "{mailed:?} {:?} {:?} {:?} {credits:?} {:?} {:?}",
                mail.hop_estimates, mail.paths, mail.envelopes, mail.feedback, mail.notices
            )
        };
        assert_eq!(text(&received), text(&all.to[0]));
        assert_eq!(received.packet_count(), 100);
    }
}
