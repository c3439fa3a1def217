//! YAML, whatever it says.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engine::fuzzing::yaml(bytes));
