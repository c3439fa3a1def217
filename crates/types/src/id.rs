//! Ids. Every id is text that a person can type, and can only be created by parsing. Ids inside a run are counted,
//! never random, so that repeated runs have the same ids.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Digest;

/// A kind of id: its name, and its allowed texts.
pub trait Kind {
    const WORD: &'static str;
    fn allows(text: &str) -> bool;
}

/// An id of some kind. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id<K> {
    text: Arc<str>,
    kind: PhantomData<fn() -> K>,
}

/// A text that is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {}", called(word))]
pub struct NotAnId {
    pub word: &'static str,
    pub text: String,
}

fn called(word: &str) -> String {
    match word {
        "uuid" => "a UUID".to_owned(),
        "attempt" => "an attempt id".to_owned(),
        _ => format!("a {word} id"),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunKind {}
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {}
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleKind {}
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleKind {}

/// One request being worked on: `r_` and letters or digits.
pub type RunId = Id<RunKind>;
/// One piece of a plan: `T1`, or a reserved lower-case word such as `plan`.
pub type TaskId = Id<TaskKind>;
/// A named entry of a policy: `area.topic`.
pub type RuleId = Id<RuleKind>;
/// The role of an agent: `planner`, `coder`, ...
pub type RoleId = Id<RoleKind>;

impl Kind for RunKind {
    const WORD: &'static str = "run";
    fn allows(text: &str) -> bool {
        text.strip_prefix("r_").is_some_and(|rest| plain(rest, 2..=40, ""))
    }
}

impl Kind for TaskKind {
    const WORD: &'static str = "task";
    fn allows(text: &str) -> bool {
        plain(text, 1..=40, "-_")
    }
}

impl Kind for RuleKind {
    const WORD: &'static str = "rule";
    fn allows(text: &str) -> bool {
        text.contains('.') && plain(text, 3..=80, "._")
    }
}

impl Kind for RoleKind {
    const WORD: &'static str = "role";
    fn allows(text: &str) -> bool {
        plain(text, 1..=40, "-_")
    }
}

fn plain(text: &str, length: std::ops::RangeInclusive<usize>, also: &str) -> bool {
    length.contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || also.contains(c))
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

impl RoleId {
    /// The reserved role of a single agent. A policy that has it is for that agent.
    #[must_use]
    pub fn solo() -> Self {
        Self::trusted("solo")
    }

    /// The role that writes tests for results that it has not seen.
    #[must_use]
    pub fn tester() -> Self {
        Self::trusted("tester")
    }
}

impl TaskId {
    /// The reserved task for making the plan.
    #[must_use]
    pub fn plan() -> Self {
        Self::trusted("plan")
    }

    /// The reserved task under which an adviser reviews the request.
    #[must_use]
    pub fn advice() -> Self {
        Self::trusted("advice")
    }

    /// The reserved task of an open conversation.
    #[must_use]
    pub fn chat() -> Self {
        Self::trusted("chat")
    }
}

impl<K> Id<K> {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn trusted(text: &str) -> Self {
        Self { text: Arc::from(text), kind: PhantomData }
    }
}

impl<K: Kind> Id<K> {
    /// An id from a literal in the program; an invalid one is a bug and is shown as such.
    #[must_use]
    pub fn fixed(text: &'static str) -> Self {
        debug_assert!(K::allows(text), "{text:?} is not {}", called(K::WORD));
        Self::trusted(text)
    }
}

impl<K: Kind> FromStr for Id<K> {
    type Err = NotAnId;
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        if K::allows(text) {
            Ok(Self::trusted(text))
        } else {
            Err(NotAnId { word: K::WORD, text: text.chars().take(80).collect() })
        }
    }
}

impl<K> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}
impl<K> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
impl<K> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// One try at a task: `T1.2` is the second try at `T1`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId {
    pub task: TaskId,
    pub n: u32,
}

impl AttemptId {
    #[must_use]
    pub fn new(task: TaskId, n: u32) -> Self {
        Self { task, n }
    }
}

/// A log with one writer: the run's own (`r_x`), or that of one attempt in it (`r_x/T1.2`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogId {
    pub run: RunId,
    pub attempt: Option<AttemptId>,
}

impl LogId {
    #[must_use]
    pub fn run(run: RunId) -> Self {
        Self { run, attempt: None }
    }

    #[must_use]
    pub fn attempt(run: RunId, attempt: AttemptId) -> Self {
        Self { run, attempt: Some(attempt) }
    }
}

/// One session inside an attempt, counted from 1; a sub-agent's session has a parent.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct SessionId(pub u32);

impl SessionId {
    /// The attempt's first session, whose end ends the attempt.
    pub const ROOT: Self = Self(1);
}

/// One tool call: the session, the turn in it, the index in that turn. `s1.t3.c2`.
///
/// Counted by us, because provider ids are opaque and may repeat.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    pub session: SessionId,
    pub turn: u32,
    pub index: u32,
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.task, self.n)
    }
}
impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.attempt {
            None => write!(f, "{}", self.run),
            Some(attempt) => write!(f, "{}/{attempt}", self.run),
        }
    }
}
impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}
impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.t{}.c{}", self.session, self.turn, self.index)
    }
}

impl FromStr for AttemptId {
    type Err = NotAnId;
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let wrong = || NotAnId { word: "attempt", text: text.chars().take(80).collect() };
        let (task, n) = text.rsplit_once('.').ok_or_else(wrong)?;
        Ok(Self { task: task.parse()?, n: n.parse().map_err(|_| wrong())? })
    }
}
impl FromStr for LogId {
    type Err = NotAnId;
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        Ok(match text.split_once('/') {
            None => Self { run: text.parse()?, attempt: None },
            Some((run, attempt)) => Self { run: run.parse()?, attempt: Some(attempt.parse()?) },
        })
    }
}
impl FromStr for CallId {
    type Err = NotAnId;
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let parse = || {
            let mut parts = text.split('.');
            let mut number = |mark: &str| parts.next()?.strip_prefix(mark)?.parse().ok();
            let id =
                Self { session: SessionId(number("s")?), turn: number("t")?, index: number("c")? };
            parts.next().is_none().then_some(id)
        };
        parse().ok_or_else(|| NotAnId { word: "call", text: text.chars().take(80).collect() })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UuidKind {}
/// A universally unique id, in the usual form of 36 characters.
pub type Uuid = Id<UuidKind>;

impl Kind for UuidKind {
    const WORD: &'static str = "uuid";
    fn allows(text: &str) -> bool {
        let dashes = [8, 13, 18, 23];
        text.len() == 36
            && text.bytes().enumerate().all(|(at, byte)| match dashes.contains(&at) {
                true => byte == b'-',
                false => byte.is_ascii_hexdigit(),
            })
    }
}

impl Uuid {
    /// The uuid of a text: always the same for the same text (version 8, from SHA-256).
    #[must_use]
    pub fn of(text: &str) -> Self {
        let digest = Digest::of(text.as_bytes()).to_string();
        let part = |from: usize, to: usize| &digest[from..to];
        let text = format!(
            "{}-{}-8{}-a{}-{}",
            part(0, 8),
            part(8, 12),
            part(13, 16),
            part(17, 20),
            part(20, 32)
        );
        #[expect(clippy::expect_used, reason = "it is put together from hexadecimal digits")]
        text.parse().expect("hexadecimal digits make a uuid")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_a_round_trip_through_text() {
        let log: LogId = "r_7k2m/T1.2".parse().expect("a log id");
        assert_eq!(log.to_string(), "r_7k2m/T1.2");
        assert_eq!(log.attempt, Some(AttemptId::new("T1".parse().expect("task"), 2)));
        let call: CallId = "s1.t3.c2".parse().expect("a call id");
        assert_eq!(call.to_string(), "s1.t3.c2");
    }

    #[test]
    fn texts_that_could_reach_out_of_their_place_are_not_ids() {
        for bad in
            ["", "..", "r_", "r_../x", "r_a b", "r_a/../T1.1", "r_a/T1", "x_abc", "r_a\u{202e}b"]
        {
            assert!(bad.parse::<LogId>().is_err(), "{bad:?} was taken as a log id");
        }
        assert!("../T1".parse::<TaskId>().is_err() && "norule".parse::<RuleId>().is_err());
        assert!("s1.t2.c3.c4".parse::<CallId>().is_err());
    }
}
