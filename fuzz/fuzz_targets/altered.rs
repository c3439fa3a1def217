//! Test files whose expectations are altered.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| evidence::fuzzing::altered(bytes));
