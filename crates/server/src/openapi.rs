//! The OpenAPI 3.1 document, generated from the table of operations. JSON Schemas come from the types that handlers
//! read and write; their descriptions are the types' own documentation.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::access::Role;
use crate::operation::{Answer, Operation};
use crate::problem::{MEDIA_TYPE, Problem};

/// The root of the API.
pub(crate) const ROOT: &str = "/api/v1";

/// Statuses of failures; each response has a problem document.
const FAILURES: [(&str, &str); 12] = [
    ("400", "The request cannot be read"),
    ("401", "Nobody is logged in, or the token is wrong"),
    ("403", "The user may not do this, or the request comes from another site"),
    ("404", "It is not there, or the user may not see it"),
    ("405", "The address knows other methods"),
    ("409", "It does not fit the state of the run"),
    ("410", "It was removed"),
    ("413", "The body is too large"),
    ("415", "The body is not JSON"),
    ("422", "The request is understood, and it cannot be carried out"),
    ("429", "Too many requests"),
    ("503", "The server is stopping"),
];

/// Generates the document for a table of operations.
pub(crate) fn document(operations: &[Operation], version: &str, cookie: &str) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.for_serialize().into_generator();
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut inputs = settings.for_deserialize().into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations {
        let described = described(operation, &mut generator, &mut inputs);
        let path = paths.entry(format!("{ROOT}{}", operation.path)).or_insert_with(|| json!({}));
        path[operation.method.as_str().to_ascii_lowercase()] = described;
    }
    let problem = generator.subschema_for::<Problem>();
    let failures: Map<String, Value> = FAILURES
        .iter()
        .map(|(status, what)| {
            let content = json!({ MEDIA_TYPE: { "schema": problem } });
            (format!("Problem{status}"), json!({ "description": what, "content": content }))
        })
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Bosun",
            "version": version,
            "description": "Runs of a crew of coding agents: start, follow, answer, review, accept, and see why.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }, { "cookie": [] }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "responses": failures,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "cookie": { "type": "apiKey", "in": "cookie", "name": cookie },
            },
        },
    })
}

fn described(
    operation: &Operation,
    generator: &mut SchemaGenerator,
    inputs: &mut SchemaGenerator,
) -> Value {
    let mut parameters: Vec<Value> = operation
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            let schema = json!({ "type": "string", "minLength": 1 });
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
        .collect();
    if let Some(query) = operation.query {
        parameters.extend(query_parameters(&query(inputs)));
    }
    if operation.idempotent {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "The same key with the same body starts one run, however often it is sent",
            "schema": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,100}$" },
        }));
    }
    let content = match operation.answer {
        Answer::Json(schema) => {
            json!({ "application/json": { "schema": object(schema(generator)) } })
        }
        Answer::Other(media) => json!({ media: { "schema": { "type": "string" } } }),
    };
    let mut responses = Map::new();
    let mut succeeds = vec![operation.status.to_string()];
    if operation.idempotent {
        succeeds.push("200".to_owned());
    }
    for status in succeeds {
        responses.insert(status, json!({ "description": operation.summary, "content": content }));
    }
    for (status, _) in FAILURES {
        let reference = format!("#/components/responses/Problem{status}");
        responses.insert(status.to_owned(), json!({ "$ref": reference }));
    }
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [operation.path.split('/').nth(1).unwrap_or_default()],
        "parameters": parameters,
        "responses": responses,
    });
    if operation.role != Role::Viewer {
        described["description"] = json!(format!("Requires the role {}.", operation.role.as_str()));
    }
    if let Some(body) = operation.body {
        let content = json!({ "application/json": { "schema": body(inputs) } });
        described["requestBody"] = json!({ "required": true, "content": content });
    }
    described
}

/// A schema as an object: client generators do not support `true`.
fn object(schema: Schema) -> Value {
    match schema.to_value() {
        Value::Bool(true) => json!({}),
        schema => schema,
    }
}

/// Converts the properties of an object schema to query parameters.
fn query_parameters(schema: &Schema) -> Vec<Value> {
    let schema = schema.as_value();
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name))
    };
    let Some(properties) = schema["properties"].as_object() else { return vec![] };
    let parameter = |(name, property): (&String, &Value)| {
        let mut property = property.clone();
        let description = property.as_object_mut().and_then(|all| all.remove("description"));
        // Query parameters are strings: an absent one is omitted, not null.
        if let Some(kinds) = property.get_mut("type").filter(|kinds| kinds.is_array()) {
            let first = kinds.as_array().and_then(|all| all.iter().find(|one| *one != "null"));
            *kinds = first.cloned().unwrap_or_else(|| json!("string"));
        }
        json!({
            "name": name, "in": "query", "required": required(name), "schema": property,
            "description": description,
        })
    };
    properties.iter().map(parameter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::operations;

    #[test]
    fn every_answer_has_a_schema_that_generators_read() {
        let document = document(&operations(), "1", "bosun");
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                for one in operation["parameters"].as_array().into_iter().flatten() {
                    let described = one["in"] != "query" || one["description"].is_string();
                    assert!(described, "{method} {path}: {one}");
                }
                for response in operation["responses"].as_object().unwrap().values() {
                    let Some(content) = response["content"].as_object() else { continue };
                    assert!(
                        content.values().all(|one| one["schema"].is_object()),
                        "{method} {path}"
                    );
                }
            }
        }
    }
}
