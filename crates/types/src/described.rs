//! Serde and the JSON Schemas of the types that serialize as strings; the other types derive theirs.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{Id, Kind};
use crate::{Artifact, AttemptId, CallId, Digest, LogId, ModelRef, Money, Timestamp, WorkPath};

/// Serde and `Debug` via `Display` and `FromStr`.
macro_rules! as_text {
    ($($id:ty),*) => {$(
        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
        impl Serialize for $id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
as_text!(Artifact, AttemptId, CallId, Digest, LogId, ModelRef, WorkPath);

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
