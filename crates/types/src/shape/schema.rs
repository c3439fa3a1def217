//! A shape as a JSON Schema, for models and editors.

use serde_json::{Map, Value, json};

use super::{Field, Shape};

impl Shape {
    /// The equivalent JSON Schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        of(self)
    }
}

fn of(shape: &Shape) -> Value {
    match shape {
        Shape::Map(fields) => map(fields),
        Shape::List(item, most) => json!({"type": "array", "items": of(item), "maxItems": most}),
        Shape::Some(item, most) => {
            json!({"type": "array", "items": of(item), "minItems": 1, "maxItems": most})
        }
        Shape::Text(most) => json!({"type": "string", "minLength": 1, "maxLength": most}),
        Shape::Blank(most) => json!({"type": "string", "maxLength": most}),
        Shape::Word(words, _) => json!({"type": "string", "enum": words}),
        Shape::Number(least, most) if *most < u64::MAX => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        Shape::Number(least, _) => json!({"type": "integer", "minimum": least}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Parsed(about, _) => json!({"type": "string", "description": about}),
        Shape::Short(_, inner) => of(inner),
    }
}

fn map(fields: &[Field]) -> Value {
    let property = |field: &Field| {
        let mut schema = of(field.shape);
        if let (Value::Object(schema), false) = (&mut schema, field.about.is_empty()) {
            schema.insert("description".to_owned(), Value::from(field.about));
        }
        (field.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = fields.iter().map(property).collect();
    let needed: Vec<&str> =
        fields.iter().filter(|field| field.needed).map(|field| field.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": false,
    })
}
