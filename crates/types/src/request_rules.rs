//! The rules on requests as people write them: is a request taken, who takes it first, which documents go with it.
//! Only the shape is here; what a condition or a pattern means is in the engine.

use serde::{Deserialize, Serialize};

use crate::{Hint, RoleId, RuleId, WorkPath};

/// When a rule on a request matches: everything that is named must hold. Nothing named always matches.
/// How patterns are written is told in `docs/requests.md`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Condition {
    /// The text has fewer words than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewer_words_than: Option<usize>,
    /// Every word of the text is one of these, and the text mentions nothing of the code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nothing_but: Vec<String>,
    /// One of these patterns is found in the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_phrase: Vec<String>,
    /// And one of these is found too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_phrase: Vec<String>,
    /// None of these is found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unless_phrase: Vec<String>,
    /// What `any_phrase` finds does not count where one of these stands before it in the sentence, unless it begins a
    /// clause: `stop scripts that steal passwords` is excused by `stop`, `stop that and steal passwords` is not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unless_before: Vec<String>,
    /// One of these combinations is found: all of its patterns, a few sentences apart at most, and none of them excused
    /// by `unless_before`. What is harmless alone need not be so together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Vec<String>>,
    /// Both patterns of one of these pairs are found, in two clauses that speak of the same thing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opposed: Vec<[String; 2]>,
    /// The text mentions something of the code, or it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about_code: Option<bool>,
    /// The text mentions one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// The operator's hint is this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// Something came with the text, or nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached: Option<bool>,
    /// The estimate is above the request's budget of tokens or time, or it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_budget: Option<bool>,
    /// The project type that the requester names is one of the policy's, or it is not. Who names none matches neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_project_type: Option<bool>,
}

/// Something in a text that is more than prose, told by its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mention {
    /// `src/a.rs`, `Makefile`, `lib/auth/`.
    File,
    /// `get_user()`, `PaymentQueue`, `users.email`, `--json`, a piece of code.
    Code,
    /// `GET /users`, `/api/v1/login`.
    Endpoint,
    /// `TypeError`, `E0502`, `returns 500`.
    Error,
    /// A stack trace.
    Trace,
    /// `1.2.3`.
    Version,
    /// A blank that was left for somebody to fill in: `<name>`, `TBD`, `???`.
    Blank,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdmissionRule {
    pub id: RuleId,
    pub verdict: Admission,
    pub reason: String,
    #[serde(default)]
    pub when: Condition,
    /// Whether whoever started the run may insist on a request that this rule refuses or asks about.
    #[serde(default = "AdmissionRule::yes", skip_serializing_if = "Clone::clone")]
    pub insist: bool,
    /// What to ask, when the verdict is to ask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_matches: Vec<String>,
}

impl AdmissionRule {
    pub(crate) const fn yes() -> bool {
        true
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    Accept,
    Refuse,
    Ask,
}

impl Admission {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Refuse => "refuse",
            Self::Ask => "ask",
        }
    }
}

/// A sort of project, and what a request of that sort is expected to take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectType {
    pub name: String,
    /// A text that names none is of the first type with one of these in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any_phrase: Vec<String>,
    pub tokens: u64,
    /// How long it is expected to take at the least; without it, time is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteRule {
    pub id: RuleId,
    /// The role that gets the request first; without one, a person decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<RoleId>,
    /// What sort of request it is, if the rule says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    pub reason: String,
    #[serde(default)]
    pub when: Condition,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_matches: Vec<String>,
}

/// What sort of request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    TechnicalExplicit,
    Business,
    Strategic,
    Ambiguous,
}

impl Category {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TechnicalExplicit => "technical_explicit",
            Self::Business => "business",
            Self::Strategic => "strategic",
            Self::Ambiguous => "ambiguous",
        }
    }

    /// Only what is certainly technical goes to those who write code; everything else is made clear first.
    #[must_use]
    pub const fn side(self) -> Side {
        match self {
            Self::TechnicalExplicit => Side::Dev,
            Self::Business | Self::Strategic | Self::Ambiguous => Side::Product,
        }
    }
}

/// The two sides of the work: saying what is wanted, and making it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Product,
    Dev,
}

impl Side {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Dev => "dev",
        }
    }
}

/// Which documents an agent is given, and which it is not. Everything that is named must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextRule {
    pub id: RuleId,
    pub verdict: Inclusion,
    pub reason: String,
    /// Documents whose path starts like this; none means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Documents that say of themselves to be of one of these kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Documents with one of these states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<String>,
    /// Whether the request speaks of the document's domain; a document without a domain is about everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about_the_request: Option<bool>,
    /// Only agents on this side are given the document; all, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// It counts only when documents are chosen a second time, because an agent said that it was not given enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// How sure a classification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The operator said so.
    Deterministic,
    /// The text looks like it.
    Heuristic,
}

impl Confidence {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Heuristic => "heuristic",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inclusion {
    Include,
    Exclude,
}

/// A document that was, or was not, handed to the agents, and the rule for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected {
    pub path: WorkPath,
    pub rule: RuleId,
    /// Only agents on this side are given it; all, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
}
