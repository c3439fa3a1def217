//! Every kind of mismatch between a value and its shape, reported with its path.

use serde_json::{Value, json};

use super::{Field, Shape};

static NAME: Shape = Shape::Text(10);
static PET: Shape = Shape::Map(&[
    Field::needed("name", &NAME, "what it is called").or(&["petName"]),
    Field::may("sort", &Shape::Word(&["cat", "dog"], &[("dog", "hound")]), ""),
    Field::may("age", &Shape::Number(0, 99), ""),
]);
static HOUSE: Shape = Shape::Map(&[
    Field::needed("pets", &Shape::Some(&Shape::Short("name", &PET), 3), "who lives there"),
    Field::may("built", &Shape::Parsed("a time", super::time), ""),
]);

fn said(value: &Value) -> Vec<String> {
    let problems = HOUSE.read(value).err().unwrap_or_default();
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn other_spellings_and_short_forms_are_written_out() {
    let house = json!({"pets": ["Tom", {"petName": "Rex", "sort": "hound", "age": null}]});
    assert_eq!(
        HOUSE.read(&house),
        Ok(json!({"pets": [{"name": "Tom"}, {"name": "Rex", "sort": "dog"}]}))
    );
}

#[test]
fn every_problem_is_named_with_its_path() {
    let house = json!({
        "pets": [{"sort": "fish", "tail": 1}, {"name": "far too long for us"}, {"name": " ", "age": 100}],
        "built": "2026-01-01", "colour": "red",
    });
    assert_eq!(
        said(&house),
        [
            "pets.0.sort: \"fish\" is not one of cat, dog",
            "pets.0.tail: unknown key; there are name, sort, age",
            "pets.0.name: is missing",
            "pets.1.name: has 19 bytes; at most 10 are allowed",
            "pets.2.name: must not be empty",
            "pets.2.age: 100 is not a whole number from 0 to 99",
            "built: \"2026-01-01\" is not a time such as 2026-01-31T09:00:00Z",
            "colour: unknown key; there are pets, built",
        ]
    );
    assert_eq!(said(&json!({"pets": []})), ["pets: must not be empty"]);
    assert_eq!(said(&json!({"pets": [1]})), ["pets.0: must be a map, not a number"]);
    assert_eq!(said(&json!({"pets": ["a", "b", "c", "d"]})), ["pets: has 4 items; at most 3"]);
    assert_eq!(said(&json!("a house")), ["must be a map, not a text"]);
}

#[test]
fn a_flood_of_problems_is_cut() {
    let many: serde_json::Map<String, Value> =
        (0..1_000).map(|at| (format!("k{at}"), Value::Null)).collect();
    assert_eq!(said(&Value::Object(many)).len(), 50);
}

#[test]
fn the_schema_says_the_same() {
    let schema = HOUSE.schema();
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], json!(["pets"]));
    let pet = &schema["properties"]["pets"]["items"];
    assert_eq!(pet["properties"]["sort"]["enum"], json!(["cat", "dog"]));
    assert_eq!(pet["properties"]["name"]["description"], "what it is called");
}
