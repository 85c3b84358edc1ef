//! All tests of this crate, as one program: the linker runs once instead of once per file.

mod edison_volumes;
mod other_files;
mod volumes;
