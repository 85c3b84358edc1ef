//! What becomes of something that was built.

use crate::code::{Damaged, Reader, Writer};
use serde::de::DeserializeOwned;
use serde::Serialize;

/// State within something that is built from the experiment.
pub trait State {
    /// Writes it.
    fn save(&self, into: &mut Writer);

    /// Puts what was written in its place. `self` is as it was built, and after an error of no use.
    ///
    /// # Errors
    /// The bytes were not written by its like.
    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged>;
}

impl<S: State + ?Sized> State for Box<S> {
    fn save(&self, into: &mut Writer) {
        (**self).save(into);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        (**self).load(from)
    }
}

/// As many as were built.
impl<S: State> State for Vec<S> {
    fn save(&self, into: &mut Writer) {
        into.put(&self.len());
        self.iter().for_each(|each| each.save(into));
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        same_number(from.get()?, self.len())?;
        self.iter_mut().try_for_each(|each| each.load(from))
    }
}

/// There if it was built.
impl<S: State> State for Option<S> {
    fn save(&self, into: &mut Writer) {
        into.put(&usize::from(self.is_some()));
        if let Some(this) = self {
            this.save(into);
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        same_number(from.get()?, usize::from(self.is_some()))?;
        self.as_mut().map_or(Ok(()), |this| this.load(from))
    }
}

fn same_number(found: usize, expected: usize) -> Result<(), Damaged> {
    if found == expected {
        Ok(())
    } else {
        Err(Damaged(format!("state of {found} where {expected} were built")))
    }
}

/// Reads a list that has as many entries as were built.
///
/// # Errors
/// It has not, or is none.
pub fn load_fixed<T: Serialize + DeserializeOwned>(list: &mut Vec<T>, from: &mut Reader<'_>) -> Result<(), Damaged> {
    let found: Vec<T> = from.get()?;
    same_number(found.len(), list.len())?;
    *list = found;
    Ok(())
}

/// Implements [`State`] for a struct. Each of its fields is named once:
///
/// | as | it is |
/// |---|---|
/// | `whole` | state: a value that serialises and takes the place of what is there |
/// | `fixed` | the same, a `Vec` of as many entries as were built |
/// | `inside` | something that has [`State`] of its own |
/// | `built` | no state |
///
/// They stand in this order, those of one kind separated by commas.
#[macro_export]
macro_rules! state {
    ($type:ty {
        $(whole: $($whole:ident),+ $(;)?)?
        $(fixed: $($fixed:ident),+ $(;)?)?
        $(inside: $($inside:ident),+ $(;)?)?
        $(built: $($built:ident),+)?
    }) => {
        impl $crate::State for $type {
            fn save(&self, into: &mut $crate::Writer) {
                let Self { $($($whole,)+)? $($($fixed,)+)? $($($inside,)+)? $($($built: _,)+)? } = self;
                $($(into.put($whole);)+)?
                $($(into.put($fixed);)+)?
                $($($crate::State::save($inside, into);)+)?
            }

            fn load(&mut self, from: &mut $crate::Reader<'_>) -> Result<(), $crate::Damaged> {
                let Self { $($($whole,)+)? $($($fixed,)+)? $($($inside,)+)? $($($built: _,)+)? } = self;
                $($(*$whole = from.get()?;)+)?
                $($($crate::load_fixed($fixed, from)?;)+)?
                $($($crate::State::load($inside, from)?;)+)?
                Ok(())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(PartialEq, Debug)]
    struct Port {
        peer: u32,
        free_ps: u64,
    }
    state!(Port { whole: free_ps; built: peer });

    #[derive(PartialEq, Debug)]
    struct Router {
        served: Vec<u16>,
        ports: Vec<Port>,
        series: Option<Box<Port>>,
        now_ps: u64,
        name: &'static str,
    }
    state!(Router { whole: now_ps; fixed: served; inside: ports, series; built: name });

    fn built(ports: u32) -> Router {
        let port = |peer| Port { peer, free_ps: 0 };
        let ports: Vec<Port> = (0..ports).map(port).collect();
        Router { served: vec![0; ports.len()], ports, series: Some(Box::new(port(9))), now_ps: 0, name: "r" }
    }

    #[test]
    fn state_is_put_into_what_is_built_anew() {
        let mut router = built(3);
        (router.now_ps, router.served[1], router.ports[2].free_ps) = (5, 8, 70);
        router.series.as_mut().unwrap().free_ps = 1;
        let mut saved = Writer::default();
        router.save(&mut saved);
        let bytes = saved.into_bytes();
        let mut again = built(3);
        let mut reader = Reader::new(&bytes);
        again.load(&mut reader).unwrap();
        reader.end().unwrap();
        assert_eq!(again, router);
        let more = built(4).load(&mut Reader::new(&bytes)).unwrap_err();
        assert_eq!(more.to_string(), "state of 3 where 4 were built");
        let without = Router { series: None, ..built(3) }.load(&mut Reader::new(&bytes)).unwrap_err();
        assert_eq!(without.to_string(), "state of 1 where 0 were built");
    }
}
