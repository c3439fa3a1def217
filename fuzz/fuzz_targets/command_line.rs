//! Command lines: any text is read in bounds, and what stands beside or around it changes nothing.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rules::fuzzing::command_line(bytes));
