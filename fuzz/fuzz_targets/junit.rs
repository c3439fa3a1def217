//! Reports in XML.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| evidence::fuzzing::junit(bytes));
