//! Edits of any file by any text.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tools::fuzzing::edit(bytes));
