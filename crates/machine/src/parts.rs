//! Connected parts of a graph.

/// The part of each of `count` vertices: its lowest vertex.
pub(crate) fn parts(count: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Vec<u32> {
    fn root(part: &mut [u32], mut vertex: u32) -> u32 {
        while part[vertex as usize] != vertex {
            part[vertex as usize] = part[part[vertex as usize] as usize];
            vertex = part[vertex as usize];
        }
        vertex
    }
    let mut part: Vec<u32> = (0..count as u32).collect();
    for (a, b) in edges {
        let (a, b) = (root(&mut part, a), root(&mut part, b));
        part[a.max(b) as usize] = a.min(b);
    }
    (0..count as u32).map(|vertex| root(&mut part, vertex)).collect()
}
