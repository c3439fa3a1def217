//! Who a commit is by. Finding out who the person is, is in `author.rs`.

/// The author of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    pub email: String,
}
