//! Identity of a commit's author. `author.rs` finds the user's own.

/// The author of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    pub email: String,
}
