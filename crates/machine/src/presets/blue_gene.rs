//! Blue Gene machines and their blocks.
//!
//! A job gets its own block: a box of nodes whose network is separate from the rest of the machine. A block of whole
//! midplanes is a torus, since the link chips at the faces of a midplane close the rings. A smaller block ends at
//! cables that are switched off, so it is a mesh in every dimension. A block of whole midplanes can also be booted as
//! a mesh in some dimensions, as Mira's blocks of 1,024 and 32,768 nodes were by default in one dimension.

use crate::error::wrong;
use crate::topology::{LinkFigures, Torus};
use crate::{FastestLetter, MachineError};

pub(super) const SOURCE_L: &str =
    "Blue Gene/L overview, IBM J. Res. Dev. 49, 2005: 175 MB/s per link and direction; about 100 ns per hop; injection \
     taken as the six links' 1.05 GB/s";
pub(super) const SOURCE_P: &str =
    "IBM Blue Gene team, IBM J. Res. Dev. 52, 2008: 425 MB/s per link and direction, about 100 ns per hop; injection \
     taken as the six links' 2.55 GB/s";
pub(super) const SOURCE_Q: &str =
    "Chen et al., SC 2011: 2 GB/s per link and direction, about 40 ns per hop, two links to the one neighbour in the E \
     dimension; injection taken as the ten links' 20 GB/s";

/// A requested block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    /// Nodes along each axis.
    pub shape: Vec<u32>,
    /// Letters of the axes that do not wrap around; `None` for the rule of the machine.
    pub mesh: Option<String>,
}

/// A Blue Gene: a torus of midplanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct BlueGene {
    torus: Torus,
    letters: &'static str,
    midplane: &'static [u32],
}

pub(super) fn l(dims: &[u32]) -> BlueGene {
    BlueGene::three_dimensional(dims, LinkFigures::new(175_000_000, 100), LinkFigures::new(1_050_000_000, 100), 2)
}

pub(super) fn p(dims: &[u32]) -> BlueGene {
    BlueGene::three_dimensional(dims, LinkFigures::new(425_000_000, 100), LinkFigures::new(2_550_000_000, 100), 4)
}

pub(super) fn q(dims: &[u32]) -> BlueGene {
    let (local, terminal) = (LinkFigures::new(2_000_000_000, 40), LinkFigures::new(20_000_000_000, 10));
    let torus = Torus { dims: dims.to_vec(), fastest: FastestLetter::Last, local, terminal, ..Torus::default() };
    BlueGene { torus, letters: "ABCDE", midplane: &[4, 4, 4, 4, 2] }
}

impl BlueGene {
    fn three_dimensional(dims: &[u32], local: LinkFigures, terminal: LinkFigures, cores_per_node: u32) -> Self {
        let torus = Torus { dims: dims.to_vec(), local, terminal, cores_per_node, ..Torus::default() };
        Self { torus, letters: "XYZ", midplane: &[8, 8, 8] }
    }

    /// The whole machine.
    pub(super) fn whole(&self) -> Torus {
        Torus { axes: Some(self.letters.into()), ..self.torus.clone() }
    }

    /// A block of the machine.
    pub(super) fn block(&self, partition: &Partition) -> Result<Torus, MachineError> {
        let wrong = |reason: String| wrong("partition", reason);
        let (shape, dims) = (&partition.shape, &self.torus.dims);
        if shape.len() != dims.len() {
            let (given, letters) = (shape.len(), self.letters);
            return wrong(format!("shape has {given} sizes; expected {}, along {letters}", dims.len()));
        }
        let too_large = |i: &usize| !(1..=dims[*i]).contains(&shape[*i]);
        if let Some(i) = (0..dims.len()).find(too_large) {
            let letter = &self.letters[i..=i];
            return wrong(format!("shape has {} nodes along {letter}; the machine has 1 to {}", shape[i], dims[i]));
        }
        let whole_midplanes = shape.iter().zip(self.midplane).all(|(&nodes, &each)| nodes % each == 0);
        let wrap = match &partition.mesh {
            None => vec![whole_midplanes; dims.len()],
            Some(mesh) => {
                if let Some(other) = mesh.chars().find(|&letter| !self.letters.contains(letter)) {
                    return wrong(format!("mesh has '{other}'; the axes are {}", self.letters));
                }
                self.letters.chars().map(|letter| !mesh.contains(letter)).collect()
            }
        };
        Ok(Torus { dims: shape.clone(), wrap: wrap.into(), ..self.whole() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::block;
    use crate::Shape;

    fn asked(preset: &str, shape: &[u32], mesh: Option<&str>) -> Result<(String, Vec<bool>), String> {
        let partition = super::Partition { shape: shape.to_vec(), mesh: mesh.map(Into::into) };
        let builder = block(preset, &partition).map_err(|error| error.to_string())?;
        let Shape::Torus { wrap, .. } = builder.shape else { panic!("a torus") };
        Ok((builder.name, wrap))
    }

    #[test]
    fn whole_midplanes_wrap_and_smaller_blocks_do_not() {
        let name = |shape: &str| format!("jugene-{shape}");
        assert_eq!(asked("jugene", &[8, 8, 16], None), Ok((name("8x8x16"), vec![true; 3])));
        assert_eq!(asked("jugene", &[8, 8, 16], Some("Z")), Ok((name("8x8x16"), vec![true, true, false])));
        assert_eq!(asked("jugene", &[8, 8, 4], None), Ok((name("8x8x4"), vec![false; 3])));
        assert_eq!(asked("mira", &[4, 4, 4, 8, 2], Some("D")).unwrap().1, [true, true, true, false, true]);
    }

    #[test]
    fn mistakes_say_what_there_is() {
        let wrong = |preset, shape: &[u32], mesh| asked(preset, shape, mesh).unwrap_err();
        assert_eq!(wrong("jugene", &[8, 8], None), "partition: shape has 2 sizes; expected 3, along XYZ");
        assert_eq!(
            wrong("bgp-rack", &[8, 16, 8], None),
            "partition: shape has 16 nodes along Y; the machine has 1 to 8"
        );
        assert_eq!(wrong("bgp-rack", &[8, 8, 8], Some("E")), "partition: mesh has 'E'; the axes are XYZ");
        assert!(wrong("edison", &[8, 8, 8], None).starts_with("partition: 'edison' has no blocks; known: bgl"));
    }
}
