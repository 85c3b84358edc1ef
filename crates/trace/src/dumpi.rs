//! DUMPI: the records of MPI calls of one rank, as sst-dumpi writes them. Big endian.
//!
//! | part | content |
//! |---|---|
//! | 0 | magic: FF AA DD `DUMPI` |
//! | 8 | i32 bias of CPU seconds, i32 bias of wall seconds, then the records up to number 293 |
//! | header | u8 x 3 version |
//! | footer | u64 magic; 291 x i32 calls recorded; 291 x i32 calls made but not recorded |
//! | sizes | i32 n, n x i32: bytes of each data type |
//! | index | the last 64 bytes (older: 56, 48, 40): magic, then u64 offsets of sizes, addresses, counters, header, body, footer, key-values; 0 is absent |
//!
//! A file without an index was cut short. Its records are read up to there.

mod file;
mod layout;
mod record;

pub use file::{is_dumpi, is_meta, CallCount, File};
pub use layout::{kind_name, kind_number};
pub use record::{Record, Records, Status};
