//! Runs one experiment file of CAMINOS and prints its results.

use caminos_lib::{file_main, Plugs};
use std::fs::File;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    let name = std::env::args().nth(1).expect("usage: caminos-bench FILE");
    let mut file = File::open(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
    if let Err(error) = file_main(&mut file, &Plugs::default(), None, &[]) {
        eprintln!("{name}: {error}");
        std::process::exit(1);
    }
}
