//! Typed identifiers. All are dense indices from zero, so they index arrays directly.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize)]
        #[derive(zerocopy::TryFromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The identifier as an array index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The identifier of array index `index`.
            ///
            /// # Panics
            /// If `index` does not fit in 32 bits; no supported machine is that large.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("an identifier fits in 32 bits"))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A node's NIC: an endpoint with one link to a router.
    NodeId,
    "n"
);
id!(
    /// A router (a switch chip).
    RouterId,
    "r"
);
id!(
    /// One direction of one physical cable between two routers.
    LinkId,
    "l"
);
id!(
    /// A link class of a machine, for instance `green` or `local`.
    LinkClassId,
    "c"
);
id!(
    /// A group of routers (dragonfly group, Cascade cabinet pair, fat-tree pod).
    GroupId,
    "g"
);
id!(
    /// A job of the workload, in the order of the experiment file.
    JobId,
    "j"
);
id!(
    /// A rank (process) of one job, from zero.
    RankId,
    "k"
);
