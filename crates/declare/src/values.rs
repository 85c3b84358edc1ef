//! The values of a column.

use crate::column::Type;

/// The values of a column. All columns of a table have the same length.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    /// Small counts.
    U16(Vec<u16>),
    /// Ids and counts.
    U32(Vec<u32>),
    /// Large counts and picoseconds.
    U64(Vec<u64>),
    /// Ids, with negative marks.
    I32(Vec<i32>),
    /// Fractional bytes, rates, seconds.
    F64(Vec<f64>),
    /// True or false.
    Bool(Vec<bool>),
    /// Texts: row i is `texts[codes[i]]`.
    Text {
        /// Position of each row's text.
        codes: Vec<i32>,
        /// The texts, each once.
        texts: Vec<String>,
    },
    /// Lists of ids: row i is `values[offsets[i]..offsets[i + 1]]`.
    Lists {
        /// Where each row starts, and where the last one ends.
        offsets: Vec<i32>,
        /// The lists, one after the other.
        values: Vec<u32>,
    },
}

impl Values {
    /// Texts of rows that are all different.
    pub fn texts(texts: Vec<String>) -> Self {
        let rows = i32::try_from(texts.len()).expect("a table has fewer than 2^31 rows");
        Self::Text { codes: (0..rows).collect(), texts }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Text { codes, .. } => codes.len(),
            Self::Lists { offsets, .. } => offsets.len() - 1,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a column of this type may have these values.
    pub(crate) const fn fits(&self, kind: Type) -> bool {
        match kind {
            Type::U16 => matches!(self, Self::U16(_)),
            Type::U32 => matches!(self, Self::U32(_)),
            Type::U64 => matches!(self, Self::U64(_)),
            Type::I32 => matches!(self, Self::I32(_)),
            Type::F64 => matches!(self, Self::F64(_)),
            Type::Bool => matches!(self, Self::Bool(_)),
            Type::Text | Type::Coded => matches!(self, Self::Text { .. }),
            Type::Lists => matches!(self, Self::Lists { .. }),
        }
    }

    pub(crate) fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::U16(a), Self::U16(b)) => a.extend(b),
            (Self::U32(a), Self::U32(b)) => a.extend(b),
            (Self::U64(a), Self::U64(b)) => a.extend(b),
            (Self::I32(a), Self::I32(b)) => a.extend(b),
            (Self::F64(a), Self::F64(b)) => a.extend(b),
            (Self::Bool(a), Self::Bool(b)) => a.extend(b),
            (Self::Lists { offsets, values }, Self::Lists { offsets: ends, values: more }) => {
                let end = *offsets.last().expect("lists have an end");
                offsets.extend(ends.iter().skip(1).map(|offset| end + offset));
                values.extend(more);
            }
            (a, b) => panic!("values of different types, {a:?} and {b:?}, or texts"),
        }
    }
}

macro_rules! values_from {
    ($($type:ty: $variant:ident),+) => {$(
        impl From<Vec<$type>> for Values {
            fn from(values: Vec<$type>) -> Self {
                Self::$variant(values)
            }
        }

        impl FromIterator<$type> for Values {
            fn from_iter<I: IntoIterator<Item = $type>>(values: I) -> Self {
                Self::$variant(values.into_iter().collect())
            }
        }
    )+};
}

values_from!(u16: U16, u32: U32, u64: U64, i32: I32, f64: F64, bool: Bool);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_appended_row_by_row() {
        let mut lists = Values::Lists { offsets: vec![0, 2], values: vec![1, 2] };
        lists.append(Values::Lists { offsets: vec![0, 0, 1], values: vec![9] });
        assert_eq!(lists, Values::Lists { offsets: vec![0, 2, 2, 3], values: vec![1, 2, 9] });
        assert_eq!(lists.len(), 3);
    }
}
