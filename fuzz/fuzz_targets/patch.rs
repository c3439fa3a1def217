//! Patches, for files that may not fit, with writes that may fail.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tools::fuzzing::patch(bytes));
