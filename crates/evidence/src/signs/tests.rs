//! Signs and honest changes beside them.
