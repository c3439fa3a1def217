//! What test runners print.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| evidence::fuzzing::test_output(bytes));
