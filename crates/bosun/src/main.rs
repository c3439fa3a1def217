//! bosun
fn main() {}
