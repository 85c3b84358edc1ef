//! State of rebuilt values.

use crate::encoding::{DecodeError, Reader, Writer};
use serde::de::DeserializeOwned;
use serde::Serialize;

/// State of a value that is rebuilt from the experiment.
pub trait State {
    /// Writes the state.
    fn save(&self, into: &mut Writer);

    /// Loads a state into `self`, a rebuilt value. After an error, `self` is unusable.
    ///
    /// # Errors
    /// The bytes are no state of an equal value.
    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError>;
}

impl<S: State + ?Sized> State for Box<S> {
    fn save(&self, into: &mut Writer) {
        (**self).save(into);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        (**self).load(from)
    }
}

/// The number of entries is rebuilt.
impl<S: State> State for Vec<S> {
    fn save(&self, into: &mut Writer) {
        into.put(&self.len());
        self.iter().for_each(|each| each.save(into));
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        check_count(from.get()?, self.len())?;
        self.iter_mut().try_for_each(|each| each.load(from))
    }
}

/// Presence is rebuilt.
impl<S: State> State for Option<S> {
    fn save(&self, into: &mut Writer) {
        into.put(&usize::from(self.is_some()));
        if let Some(this) = self {
            this.save(into);
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        check_count(from.get()?, usize::from(self.is_some()))?;
        self.as_mut().map_or(Ok(()), |this| this.load(from))
    }
}

fn check_count(found: usize, expected: usize) -> Result<(), DecodeError> {
    if found == expected {
        Ok(())
    } else {
        Err(DecodeError(format!("state of {found} entries; expected {expected}")))
    }
}

/// Reads a list with the rebuilt number of entries.
///
/// # Errors
/// The number differs, or the bytes are no list.
pub fn load_same_length<T: Serialize + DeserializeOwned>(
    list: &mut Vec<T>,
    from: &mut Reader<'_>,
) -> Result<(), DecodeError> {
    let found: Vec<T> = from.get()?;
    check_count(found.len(), list.len())?;
    *list = found;
    Ok(())
}

/// Implements [`State`] for a struct. Each field is listed once:
///
/// | kind | content |
/// |---|---|
/// | `value` | state: a serialisable value that is replaced |
/// | `same_length` | state: a `Vec` with the rebuilt number of entries |
/// | `nested` | a value with its own [`State`] |
/// | `rebuilt` | no state |
///
/// The kinds have this order. Commas separate the fields of a kind.
#[macro_export]
macro_rules! state {
    ($type:ty {
        $(value: $($value:ident),+ $(;)?)?
        $(same_length: $($same_length:ident),+ $(;)?)?
        $(nested: $($nested:ident),+ $(;)?)?
        $(rebuilt: $($rebuilt:ident),+)?
    }) => {
        impl $crate::State for $type {
            fn save(&self, into: &mut $crate::Writer) {
                let Self { $($($value,)+)? $($($same_length,)+)? $($($nested,)+)? $($($rebuilt: _,)+)? } = self;
                $($(into.put($value);)+)?
                $($(into.put($same_length);)+)?
                $($($crate::State::save($nested, into);)+)?
            }

            fn load(&mut self, from: &mut $crate::Reader<'_>) -> Result<(), $crate::DecodeError> {
                let Self { $($($value,)+)? $($($same_length,)+)? $($($nested,)+)? $($($rebuilt: _,)+)? } = self;
                $($(*$value = from.get()?;)+)?
                $($($crate::load_same_length($same_length, from)?;)+)?
                $($($crate::State::load($nested, from)?;)+)?
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
    state!(Port { value: free_ps; rebuilt: peer });

    #[derive(PartialEq, Debug)]
    struct Router {
        served: Vec<u16>,
        ports: Vec<Port>,
        series: Option<Box<Port>>,
        now_ps: u64,
        name: &'static str,
    }
    state!(Router { value: now_ps; same_length: served; nested: ports, series; rebuilt: name });

    fn built(ports: u32) -> Router {
        let port = |peer| Port { peer, free_ps: 0 };
        let ports: Vec<Port> = (0..ports).map(port).collect();
        Router { served: vec![0; ports.len()], ports, series: Some(Box::new(port(9))), now_ps: 0, name: "r" }
    }

    #[test]
    fn state_is_loaded_into_a_rebuilt_value() {
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
        assert_eq!(more.to_string(), "state of 3 entries; expected 4");
        let without = Router { series: None, ..built(3) }.load(&mut Reader::new(&bytes)).unwrap_err();
        assert_eq!(without.to_string(), "state of 1 entries; expected 0");
    }
}
