//! The last reply of a session as JSON that fits a schema: requests it, checks it, and retries a limited number of
//! times. `llm` decides what fits.

use serde_json::Value;
use types::{Block, ModelReply, OutputSchema, StopReason, Usage};

use super::{Session, SessionError};

/// The most retries of a reply that does not fit.
const RETRIES: u32 = 3;

/// An input that also states the schema of the last reply.
pub fn asking_for(text: &str, schema: &OutputSchema) -> String {
    format!(
        "{text}\n\nYour last reply must be nothing but JSON that fits this schema:\n{}",
        schema.schema
    )
}

/// Checks replies against a schema, and counts retries.
#[derive(Debug)]
pub struct SchemaRetries<'a> {
    schema: &'a OutputSchema,
    left: u32,
}

/// The outcome of checking a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyCheck {
    /// The reply fits.
    Fits(Value),
    /// The reply does not fit, and the session was asked again.
    AskedAgain,
    /// The reply does not fit, and no retry is left.
    Unfit(String),
}

impl<'a> SchemaRetries<'a> {
    /// Starts with all retries left.
    pub fn new(schema: &'a OutputSchema) -> Self {
        Self { schema, left: RETRIES }
    }

    /// Checks the last reply of an idle session, and submits its problems while retries are left.
    pub async fn check(&mut self, session: &Session) -> Result<ReplyCheck, SessionError> {
        let blocks = vec![Block::text(session.last_words().await?)];
        let reply = ModelReply::new(blocks, StopReason::End, Usage::default(), None);
        let what = match llm::structured(&reply, self.schema) {
            Ok(object) => return Ok(ReplyCheck::Fits(object)),
            Err(fault) => fault.what,
        };
        if self.left == 0 {
            return Ok(ReplyCheck::Unfit(what));
        }
        self.left -= 1;
        session.submit(asking_for(&what, self.schema)).await?;
        Ok(ReplyCheck::AskedAgain)
    }
}
