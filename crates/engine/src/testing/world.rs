//! A made-up outside world for a run.
