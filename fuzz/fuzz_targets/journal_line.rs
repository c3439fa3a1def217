//! Lines of a journal.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rules::fuzzing::journal_line(bytes));
