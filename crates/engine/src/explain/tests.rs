//! An explanation says what a run would do.
