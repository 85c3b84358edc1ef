//! All tests of this crate, as one program: the linker runs once instead of once per file.

mod chakra;
mod programs_page;
mod traces;
