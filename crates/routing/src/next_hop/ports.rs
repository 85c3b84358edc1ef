//! Ports of routers, and lists of them, each stored once.

use rustc_hash::FxHashMap;

/// A port of a router: the nodes' ports come first, then the links in order.
pub type Port = u16;

/// Lists of ports. Routers are wired alike, so there are few different lists. Each is stored once and stays in the
/// cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortLists {
    /// Number of the distinct list of list i.
    which: Vec<u32>,
    /// Position of each distinct list in `ports`.
    bounds: Vec<(u32, u32)>,
    ports: Vec<Port>,
}

/// Lists of ports under construction, with the number of each distinct list.
pub(crate) struct PortListsBuilder {
    lists: PortLists,
    numbers: FxHashMap<Vec<Port>, u32>,
}

impl PortListsBuilder {
    /// `count` empty lists.
    pub(crate) fn of(count: usize) -> Self {
        let lists = PortLists { which: vec![0; count], bounds: vec![(0, 0)], ports: Vec::new() };
        Self { lists, numbers: FxHashMap::from_iter([(Vec::new(), 0)]) }
    }

    /// Sets the ports of list `i`.
    pub(crate) fn set(&mut self, i: usize, ports: &[Port]) {
        let Self { lists, numbers } = self;
        lists.which[i] = match numbers.get(ports) {
            Some(&number) => number,
            None => {
                let next = u32::try_from(lists.bounds.len()).expect("fewer than 2^32 different lists");
                let first = lists.ports.len();
                lists.ports.extend(ports);
                let place = |at: usize| u32::try_from(at).expect("fewer than 2^32 next hops");
                lists.bounds.push((place(first), place(lists.ports.len())));
                numbers.insert(ports.to_vec(), next);
                next
            }
        };
    }

    /// The finished lists.
    pub(crate) fn build(self) -> PortLists {
        self.lists
    }
}

impl PortLists {
    #[inline]
    pub(crate) fn get(&self, i: usize) -> &[Port] {
        let (first, end) = self.bounds[self.which[i] as usize];
        &self.ports[first as usize..end as usize]
    }
}
