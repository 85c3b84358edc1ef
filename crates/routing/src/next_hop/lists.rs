//! Lists of ports, each kept once.

use super::Port;
use std::collections::HashMap;

/// Lists of ports. Routers are wired alike, so few lists differ: each is kept once and stays in the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct PortLists {
    /// Which of the different lists list i is.
    which: Vec<u32>,
    /// Where each of them is in `ports`.
    bounds: Vec<(u32, u32)>,
    ports: Vec<Port>,
}

/// Lists of ports under construction, with the number of each that differs from those before.
#[derive(Default)]
pub(super) struct PortListsBuilder {
    pub(super) lists: PortLists,
    numbers: HashMap<Vec<Port>, u32>,
}

impl PortListsBuilder {
    pub(super) fn push(&mut self, ports: Vec<Port>) {
        let Self { lists, numbers } = self;
        let next = u32::try_from(lists.bounds.len()).expect("fewer than 2^32 different lists");
        let number = *numbers.entry(ports).or_insert_with_key(|ports| {
            let first = lists.ports.len();
            lists.ports.extend(ports);
            let place = |at: usize| u32::try_from(at).expect("fewer than 2^32 next hops");
            lists.bounds.push((place(first), place(lists.ports.len())));
            next
        });
        lists.which.push(number);
    }
}

impl PortLists {
    #[inline]
    pub(super) fn get(&self, i: usize) -> &[Port] {
        let (first, end) = self.bounds[self.which[i] as usize];
        &self.ports[first as usize..end as usize]
    }
}
