//! The list entry of a log, stored beside it. The journal stores it in the same transaction as its lines, and does not
//! interpret it.

/// A summary, made by the writer of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The version of its format.
    pub form: u32,
    /// Short: it is rewritten whenever it changes.
    pub text: String,
    /// Everything that a list can show of a finished log.
    pub whole: Option<String>,
}
