//! One operation of the API: its path, required role, input, output, and handler. The router and the OpenAPI document
//! are both generated from these, so they cannot disagree.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::access::Role;
use crate::app::App;

/// Body of a successful response.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    Json(SchemaOf),
    /// Not JSON, with this media type.
    Other(&'static str),
}

pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) method: Method,
    /// Path below the API's root, with `{name}` for parameters.
    pub(crate) path: &'static str,
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) role: Role,
    pub(crate) query: Option<SchemaOf>,
    pub(crate) body: Option<SchemaOf>,
    pub(crate) status: u16,
    pub(crate) answer: Answer,
    /// Whether it accepts the header Idempotency-Key.
    pub(crate) idempotent: bool,
    pub(crate) handler: MethodRouter<App>,
}

impl Operation {
    fn new(
        method: Method,
        (path, id, summary): (&'static str, &'static str, &'static str),
        handler: MethodRouter<App>,
    ) -> Self {
        let role = if method == Method::GET { Role::Viewer } else { Role::Operator };
        let answer = Answer::Json(schema_of::<serde_json::Value>);
        Self {
            method,
            path,
            id,
            summary,
            role,
            query: None,
            body: None,
            status: 200,
            answer,
            idempotent: false,
            handler,
        }
    }

    /// Sets the query parameters.
    pub(crate) fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(schema_of::<T>);
        self
    }

    /// Sets the request body.
    pub(crate) fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some(schema_of::<T>);
        self
    }

    /// Sets the response body.
    pub(crate) fn answers<T: JsonSchema>(mut self) -> Self {
        self.answer = Answer::Json(schema_of::<T>);
        self
    }

    /// Sets the response body, with status 201.
    pub(crate) fn makes<T: JsonSchema>(mut self) -> Self {
        self.status = 201;
        self.answers::<T>()
    }

    pub(crate) fn media(mut self, media: &'static str) -> Self {
        self.answer = Answer::Other(media);
        self
    }

    pub(crate) fn only(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    pub(crate) fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

macro_rules! methods {
    ($($name:ident $filter:ident;)+) => {$(
        pub(crate) fn $name<H, T>(
            path: &'static str,
            id: &'static str,
            summary: &'static str,
            handler: H,
        ) -> Operation
        where
            H: Handler<T, App>,
            T: 'static,
        {
            let route = on(MethodFilter::$filter, handler);
            Operation::new(Method::$filter, (path, id, summary), route)
        }
    )+};
}

methods! {
    get GET;
    post POST;
    delete DELETE;
}
