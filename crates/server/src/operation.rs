//! One operation of the API: its address, who may use it, what it takes and answers, and the function that carries it
//! out. The router and the OpenAPI document are both made from these, so neither can say what the other does not.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::access::Role;
use crate::app::App;

/// What a successful response has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    Json(SchemaOf),
    /// Something else than JSON: its media type.
    Other(&'static str),
}

pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) method: Method,
    /// Below the API's root, with `{name}` for what varies.
    pub(crate) path: &'static str,
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) role: Role,
    pub(crate) query: Option<SchemaOf>,
    pub(crate) body: Option<SchemaOf>,
    pub(crate) status: u16,
    pub(crate) answer: Answer,
    /// Whether it takes the header Idempotency-Key.
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

    /// What the query of the address may have.
    pub(crate) fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(schema_of::<T>);
        self
    }

    /// What the body must be.
    pub(crate) fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some(schema_of::<T>);
        self
    }

    /// What a successful response is.
    pub(crate) fn answers<T: JsonSchema>(mut self) -> Self {
        self.answer = Answer::Json(schema_of::<T>);
        self
    }

    /// The same for something that was made.
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
