//! YAML, whatever it says.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rules::fuzzing::yaml(bytes));
