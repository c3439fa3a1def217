//! Server-sent events and lines, cut anywhere.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| llm::fuzzing::frames_do_not_depend_on_the_cut(bytes));
