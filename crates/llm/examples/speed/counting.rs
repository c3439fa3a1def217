//! An allocator that counts: how often, how much, and how much at the most at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(crate) struct Counting {
    times: AtomicU64,
    bytes: AtomicU64,
    held: AtomicU64,
    most: AtomicU64,
}

impl Counting {
    pub(crate) const fn new() -> Self {
        Self {
            times: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            held: AtomicU64::new(0),
            most: AtomicU64::new(0),
        }
    }

    /// How many allocations were made so far, and of how many bytes.
    pub(crate) fn made(&self) -> (u64, u64) {
        (self.times.load(Relaxed), self.bytes.load(Relaxed))
    }

    /// Forgets the most that was held at once.
    pub(crate) fn forget_most(&self) {
        self.most.store(self.held.load(Relaxed), Relaxed);
    }

    pub(crate) fn most(&self) -> u64 {
        self.most.load(Relaxed)
    }

    fn count(&self, size: usize) {
        let size = size as u64;
        self.times.fetch_add(1, Relaxed);
        self.bytes.fetch_add(size, Relaxed);
        let held = self.held.fetch_add(size, Relaxed) + size;
        self.most.fetch_max(held, Relaxed);
    }
}

#[expect(unsafe_code, reason = "the interface of an allocator is unsafe")]
// SAFETY: every call is handed on to the system's allocator as it came; only numbers are added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size());
        // SAFETY: the caller keeps the rules of `alloc`, and so do we by passing it on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        self.held.fetch_sub(layout.size() as u64, Relaxed);
        // SAFETY: the place came from `alloc` above, with this layout.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.count(size);
        self.held.fetch_sub(layout.size() as u64, Relaxed);
        // SAFETY: the place came from `alloc` above, with this layout, and the caller vouches for the size.
        unsafe { System.realloc(place, layout, size) }
    }
}
