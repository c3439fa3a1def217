//! Kinds of changes: of a file, and of a line.

use schemars::JsonSchema;
use serde::Serialize;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffStatus {
    Added,
    Modified,
    Deleted,
    Renamed,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum RowKind {
    #[serde(rename = " ")]
    Context,
    #[serde(rename = "+")]
    Added,
    #[serde(rename = "-")]
    Removed,
}
