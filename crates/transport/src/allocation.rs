//! Counts what a thread has allocated: the oracle of `memory_bytes` in tests.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = HELD.try_with(|held| held.set(held.get().wrapping_add(layout.size())));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let _ = HELD.try_with(|held| held.set(held.get().wrapping_sub(layout.size())));
        unsafe { System.dealloc(at, layout) }
    }
}

/// A value, and the bytes that it holds on the heap.
pub(crate) fn held_by<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    let made = make();
    (made, HELD.get().wrapping_sub(before))
}
