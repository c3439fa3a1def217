//! Answers of Chat Completions, streamed and in one piece.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| llm::fuzzing::answer_is_read(llm::Dialect::Chat, bytes));
