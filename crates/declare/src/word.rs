//! Words of a file as enums.

use crate::key::Choice;

/// An enum whose variants are words of a file, declared by [`words!`](crate::words).
pub trait Word: Copy + Eq + 'static {
    /// Every variant, in the order of the reference.
    const ALL: &'static [Self];
    /// The words with their meanings, in the same order.
    const CHOICES: &'static [Choice];

    /// The word of this variant.
    fn word(self) -> &'static str;

    /// The variant of a word.
    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.word() == word)
    }
}

/// Declares an enum whose variants are words of a file: `Variant = "word": "meaning"`. The meaning is also the
/// variant's documentation. The enum implements [`Word`], [`Field`](crate::Field) and `Copy`, and has the constant
/// `KIND`.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$attribute:meta])* $variant:ident = $word:literal : $doc:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis enum $name {
            $(#[doc = $doc] $(#[$attribute])* $variant),+
        }

        impl $name {
            /// One of the words.
            $vis const KIND: $crate::Kind = $crate::Kind::Choice(<Self as $crate::Word>::CHOICES);

            /// The word of this variant.
            $vis const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl $crate::Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];
            const CHOICES: &'static [$crate::Choice] = &[$($crate::Choice { name: $word, doc: $doc }),+];

            fn word(self) -> &'static str {
                self.word()
            }
        }

        impl $crate::FieldKind for $name {
            const KIND: $crate::Kind = Self::KIND;
        }

        impl $crate::Field for $name {
            fn get(&self) -> Option<$crate::Value> {
                Some($crate::Value::text(self.word()))
            }

            fn of(value: Option<&$crate::Value>) -> Self {
                match value {
                    Some($crate::Value::Text(word)) => <Self as $crate::Word>::from_word(word).expect("a word of its kind"),
                    other => unreachable!("a word is a text, not {other:?}"),
                }
            }
        }
    };
}
