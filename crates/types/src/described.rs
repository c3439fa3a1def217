//! JSON Schemas of the types that serialize as strings; the other types derive theirs.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::id::{Id, Kind};
use crate::{Artifact, AttemptId, Digest, ModelRef, Money, Timestamp, WorkPath};

macro_rules! text {
    ($($type:ident: $($key:literal: $value:expr),+;)+) => {
        $(impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", $($key: $value),+ })
            }
        })+
    };
}

text! {
    Artifact: "description": "A path in the repository, or a pattern of paths";
    AttemptId: "description": "A task and the number of the attempt at it", "examples": ["T1.2"];
    Digest: "description": "A SHA-256 digest";
    ModelRef: "description": "A provider and a model", "examples": ["anthropic/claude-sonnet-4-5"];
    Money: "description": "An amount in US dollars", "examples": ["0.25"];
    Timestamp: "format": "date-time";
    WorkPath: "description": "A path in the repository";
}

impl<K: Kind> JsonSchema for Id<K> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}_id", K::WORD).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": format!("A {} id", K::WORD) })
    }
}
