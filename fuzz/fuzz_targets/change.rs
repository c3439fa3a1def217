//! Two versions of a file, with a zero byte between them.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| evidence::fuzzing::change(bytes));
