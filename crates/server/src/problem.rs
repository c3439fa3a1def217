//! Errors as problem documents (RFC 9457), each with a cause and a remedy. They contain no secrets, and paths of this
//! machine only if the caller named them.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use runtime::sandbox::chain;
use runtime::store::JournalError;
use runtime::{DiffError, DriveError, Error, FindError, ReviewError, SessionError, SettleError};
use schemars::JsonSchema;
use serde::Serialize;

/// The media type of a problem document.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// Why a request was not carried out.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// `about:blank`, or the kind of problem for programs.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    /// What is wrong with this request, and what to do.
    pub detail: String,
    /// The id of the request, also in the header `x-request-id` and in the server's log.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub request_id: String,
    /// The seconds to wait, if the rate limit was exceeded.
    #[serde(skip)]
    pub retry_after: Option<u64>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error").to_owned();
        let kind = "about:blank".to_owned();
        Self {
            kind,
            title,
            status: status.as_u16(),
            detail: detail.into(),
            request_id: String::new(),
            retry_after: None,
        }
    }

    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    pub(crate) fn unfit(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    /// An internal error: the cause is logged, and the caller gets only the request id.
    pub(crate) fn internal(error: &dyn std::error::Error) -> Self {
        tracing::error!(error = %chain(error), "a request failed");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed; its log says why")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(&self)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            let how = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, how);
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let detail = chain(&error);
        match error {
            Error::NoSuchRun { .. } | Error::NoSuchSession { .. } => Self::not_found(detail),
            Error::Removed { .. } => Self::new(StatusCode::GONE, detail),
            Error::Over { .. } => Self::conflict(detail),
            error if error.is_busy() => Self::conflict(detail),
            Error::Journal(error) => error.into(),
            Error::Drive(DriveError::Journal(error)) => error.into(),
            _ => Self::unfit(detail),
        }
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::NoBlob { .. } => Self::not_found(error.to_string()),
            JournalError::Busy { .. } => Self::conflict(error.to_string()),
            error => Self::internal(&error),
        }
    }
}

impl From<FindError> for Problem {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Door(error) => error.into(),
            error => Self::not_found(chain(&error)),
        }
    }
}

impl From<DiffError> for Problem {
    fn from(error: DiffError) -> Self {
        match error {
            DiffError::Door(error) => error.into(),
            error => Self::not_found(chain(&error)),
        }
    }
}

impl From<ReviewError> for Problem {
    fn from(error: ReviewError) -> Self {
        match error {
            ReviewError::Door(error) => error.into(),
            ReviewError::NoSuchTask { .. }
            | ReviewError::NoSuchFile { .. }
            | ReviewError::NoSuchLine { .. }
            | ReviewError::NoSuchComment { .. } => Self::not_found(chain(&error)),
            error => Self::conflict(chain(&error)),
        }
    }
}

impl From<SettleError> for Problem {
    fn from(error: SettleError) -> Self {
        match error {
            SettleError::Door(error) => error.into(),
            error => Self::conflict(chain(&error)),
        }
    }
}

impl From<SessionError> for Problem {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Door(error) => error.into(),
            SessionError::Closed => Self::conflict(chain(&error)),
            error => Self::unfit(chain(&error)),
        }
    }
}
