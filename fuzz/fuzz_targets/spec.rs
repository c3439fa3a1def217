//! Specs in YAML.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rules::fuzzing::spec_file(bytes));
