//! What a list shows of a log, stored beside it. The journal keeps it in the same transaction as the lines that it is of,
//! and does not interpret it.

/// A summary, made by the writer of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The version of the form that it is written in.
    pub form: u32,
    /// Short: it is written anew whenever it changes.
    pub text: String,
    /// Everything that a list can show of a log that is over.
    pub whole: Option<String>,
}
