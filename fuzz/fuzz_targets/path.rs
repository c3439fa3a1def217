//! Paths, in a folder with every sort of way out of it.
#![no_main]

use std::sync::OnceLock;

use sandbox::fuzzing::Ways;

static WAYS: OnceLock<Ways> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    WAYS.get_or_init(|| Ways::new().expect("a folder")).path(bytes);
});
