//! Causes of model failures. Each cause has a class for the rules, a code for programs, and says whether a retry
//! can help. `complaint.rs` maps providers' answers to causes.

use types::{Fault, FaultClass, Millis, Retry};

/// Why a model did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    Authentication,
    Permission,
    NotFound,
    InvalidRequest,
    TooLong,
    Filtered,
    Quota,
    RateLimit,
    Overloaded,
    Server,
    Timeout,
    Connection,
    BrokenStream,
    BadReply,
}

impl Cause {
    pub const ALL: [Self; 14] = [
        Self::Authentication,
        Self::Permission,
        Self::NotFound,
        Self::InvalidRequest,
        Self::TooLong,
        Self::Filtered,
        Self::Quota,
        Self::RateLimit,
        Self::Overloaded,
        Self::Server,
        Self::Timeout,
        Self::Connection,
        Self::BrokenStream,
        Self::BadReply,
    ];

    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Authentication => "model.authentication",
            Self::Permission => "model.permission",
            Self::NotFound => "model.not_found",
            Self::InvalidRequest => "model.invalid_request",
            Self::TooLong => "model.context_too_long",
            Self::Filtered => "model.content_filter",
            Self::Quota => "model.quota",
            Self::RateLimit => "model.rate_limit",
            Self::Overloaded => "model.overloaded",
            Self::Server => "model.server",
            Self::Timeout => "model.timeout",
            Self::Connection => "model.connection",
            Self::BrokenStream => "model.broken_stream",
            Self::BadReply => "model.bad_reply",
        }
    }

    /// The cause named by a fault's code.
    #[must_use]
    pub fn of(fault: &Fault) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.code() == fault.code)
    }

    #[must_use]
    pub const fn class(self) -> FaultClass {
        match self {
            // Only a person can obtain a key, a permission or a model.
            Self::Authentication | Self::Permission | Self::NotFound => FaultClass::Person,
            Self::InvalidRequest => FaultClass::Bug,
            Self::TooLong | Self::Quota => FaultClass::Resource,
            Self::Filtered => FaultClass::Semantic,
            Self::RateLimit
            | Self::Overloaded
            | Self::Server
            | Self::Timeout
            | Self::Connection => FaultClass::Transient,
            Self::BrokenStream | Self::BadReply => FaultClass::Structural,
        }
    }

    /// Whether the same request may succeed a moment later.
    #[must_use]
    pub const fn passes(self) -> bool {
        matches!(self.class(), FaultClass::Transient) || matches!(self, Self::BrokenStream)
    }

    /// Whether the cause reflects on the provider, and not only on our request.
    #[must_use]
    pub const fn blames_provider(self) -> bool {
        self.passes() || matches!(self, Self::BadReply)
    }

    #[must_use]
    pub fn fault(self, what: impl Into<String>) -> Fault {
        let retry = if self.passes() { Retry::Now } else { Retry::Never };
        Fault::new(self.class(), self.code(), what).retry(retry)
    }

    /// The fault, with the wait requested by the provider.
    #[must_use]
    pub fn fault_after(self, what: impl Into<String>, wait: Option<Millis>) -> Fault {
        let fault = self.fault(what);
        match wait {
            Some(wait) if self.passes() => fault.retry(Retry::After(wait)),
            _ => fault,
        }
    }
}

/// Fault for a reply that asks for something that was not offered and cannot be answered. Dropping that part would
/// leave the model waiting for a result that never comes.
pub(crate) fn unsupported(what: &str, name: Option<&str>) -> Fault {
    let name = name.map(|name| format!(" of {name:?}")).unwrap_or_default();
    Cause::BadReply.fault(format!("the reply holds {what}{name}, which is not supported"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_own_code_and_is_found_by_it() {
        for cause in Cause::ALL {
            assert_eq!(Cause::of(&cause.fault("x")), Some(cause));
        }
    }

    #[test]
    fn what_a_retry_cannot_cure_is_never_retried() {
        for cause in [Cause::Authentication, Cause::Quota, Cause::TooLong, Cause::InvalidRequest] {
            assert_eq!(cause.fault_after("x", Some(Millis(5))).retry, Retry::Never);
        }
        assert_eq!(
            Cause::RateLimit.fault_after("x", Some(Millis(5))).retry,
            Retry::After(Millis(5))
        );
    }
}
