//! The page for programmers, the schema in docs, and the types say the same.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::{collections::BTreeSet, fs, path::PathBuf};

use arena_events::{Event, Line, VERSION, check::FindingName, game::FoulName, run::RunFile};
use serde_json::{Value, json};

fn docs(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(file)
}

/// The lines in the page's blocks of JSON.
fn examples() -> Vec<String> {
    let page = fs::read_to_string(docs("events.md")).unwrap();
    let blocks = page.split("\n```json\n").skip(1);
    let blocks = blocks.map(|block| block.split_once("\n```").unwrap().0);
    blocks
        .flat_map(|block| block.lines().map(str::to_owned))
        .collect()
}

fn schema() -> Value {
    serde_json::to_value(arena_events::schema()).unwrap()
}

fn event_schemas(schema: &Value) -> &Vec<Value> {
    schema["oneOf"].as_array().unwrap()
}

/// What of a value is against a schema. It knows the words that this schema uses, and fails
/// at any other.
fn against(schema: &Value, root: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let Some(words) = schema.as_object() else {
        assert_eq!(*schema, json!(true));
        return wrong;
    };
    for (word, is) in words {
        let all = || is.as_array().unwrap().iter();
        match word.as_str() {
            "$schema" | "$defs" | "title" | "description" | "format" => {}
            "$ref" => {
                let name = is.as_str().unwrap().strip_prefix("#").unwrap();
                let other = root.pointer(name).unwrap();
                wrong.extend(against(other, root, value, at));
            }
            "type" => {
                let names = is
                    .as_array()
                    .map_or_else(|| vec![is], |all| all.iter().collect());
                let has = |name: &&Value| match name.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "null" => value.is_null(),
                    other => panic!("type {other}"),
                };
                if !names.iter().any(has) {
                    wrong.push(format!("{at}: {value} is not of type {is}"));
                }
            }
            "const" if value == is => {}
            "enum" if all().any(|one| one == value) => {}
            "const" | "enum" => wrong.push(format!("{at}: {value} is not {is}")),
            "minimum" | "maximum" => {
                let (value, is) = (value.as_f64(), is.as_f64().unwrap());
                let ordered = value.is_none_or(|value| match word.as_str() {
                    "minimum" => value >= is,
                    _ => value <= is,
                });
                if !ordered {
                    wrong.push(format!("{at}: {value:?} is beyond {word} {is}"));
                }
            }
            "required" => {
                let missing = all().filter(|name| value.get(name.as_str().unwrap()).is_none());
                wrong.extend(missing.map(|name| format!("{at}: {name} is missing")));
            }
            "properties" => {
                for (name, of) in is.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        wrong.extend(against(of, root, value, &format!("{at}.{name}")));
                    }
                }
            }
            "additionalProperties" => {
                let known = words.get("properties");
                for (name, value) in value.as_object().into_iter().flatten() {
                    if known.and_then(|known| known.get(name)).is_none() {
                        wrong.extend(against(is, root, value, &format!("{at}.{name}")));
                    }
                }
            }
            "propertyNames" => {
                for (name, _) in value.as_object().into_iter().flatten() {
                    wrong.extend(against(is, root, &json!(name), at));
                }
            }
            "items" => {
                for (number, value) in (0..).zip(value.as_array().into_iter().flatten()) {
                    wrong.extend(against(is, root, value, &format!("{at}[{number}]")));
                }
            }
            "oneOf" | "anyOf" => {
                let each: Vec<_> = all().map(|one| against(one, root, value, at)).collect();
                let fit = each.iter().filter(|wrong| wrong.is_empty()).count();
                if fit == 0 || word == "oneOf" && fit > 1 {
                    wrong.push(format!("{at}: {fit} of {word} fit: {each:?}"));
                }
            }
            other => panic!("{at}: the test does not know {other}"),
        }
    }
    wrong
}

#[test]
fn every_example_of_the_page_is_what_is_printed() {
    for example in examples() {
        let line: Line = serde_json::from_str(&example).unwrap_or_else(|why| {
            panic!("{why}: {example}");
        });
        assert_eq!(line.version, VERSION);
        assert_eq!(line.to_string(), example);
    }
}

#[test]
fn every_event_has_an_example_and_every_example_fits_the_schema() {
    let schema = schema();
    let mut shown = BTreeSet::new();
    for example in examples() {
        let value: Value = serde_json::from_str(&example).unwrap();
        assert_eq!(against(&schema, &schema, &value, ""), Vec::<String>::new());
        shown.insert(value["type"].as_str().unwrap().to_owned());
    }
    let all: BTreeSet<String> = event_schemas(&schema)
        .iter()
        .map(|event| {
            event["properties"]["type"]["const"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(shown, all);
}

#[test]
fn the_schema_refuses_what_is_no_event() {
    let schema = schema();
    let all = examples();
    let example = all.iter().find(|line| line.contains(r#""type":"foul""#));
    let right: Value = serde_json::from_str(example.unwrap()).unwrap();
    for (field, value) in [
        ("seat", json!("0")),
        ("type", json!("walk")),
        ("version", json!(-1)),
        ("record", json!(null)),
        ("kind", json!("no_start")),
    ] {
        let mut wrong = right.clone();
        wrong[field] = value;
        assert!(!against(&schema, &schema, &wrong, "").is_empty(), "{field}");
    }
}

#[test]
fn no_event_has_a_field_that_the_line_has() {
    let schema = schema();
    for event in event_schemas(&schema) {
        let name = event["$ref"].as_str().unwrap().strip_prefix("#").unwrap();
        let fields = &schema.pointer(name).unwrap()["properties"];
        assert!(
            fields["version"].is_null() && fields["type"].is_null(),
            "{name}"
        );
    }
}

#[test]
fn the_schema_in_docs_is_current() {
    let path = docs("events.schema.json");
    let schema = format!("{:#}\n", schema());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &schema).unwrap();
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|there| there == schema),
        "docs/events.schema.json is not current; renew it by \
         `UPDATE_EXPECT=1 cargo test -p arena-events`"
    );
}

#[test]
fn fields_of_a_later_version_are_passed_over_and_unknown_events_are_not() {
    let known = r#"{"version":1,"type":"stopping","reason":"asked","new":1}"#;
    let line: Line = serde_json::from_str(known).unwrap();
    assert!(matches!(line.event, Event::Stopping(_)));
    serde_json::from_str::<Line>(r#"{"version":1,"type":"new"}"#).unwrap_err();
}

#[test]
fn a_missing_value_is_absent_and_never_null() {
    let all = examples();
    assert!(all.iter().all(|line| !line.contains(":null")));
}

#[test]
fn a_run_file_holds_the_events_of_its_run() {
    let of_type = |kind: &str| {
        let head = format!(r#"{{"version":1,"type":"{kind}","#);
        let body = examples()
            .iter()
            .find_map(|line| line.strip_prefix(&head).map(str::to_owned));
        format!("{{{}", body.unwrap())
    };
    let [started, ended] = ["run_started", "run_ended"].map(of_type);
    let began = r#""began_unix_ms":1767225600000,"#;
    let text = format!(r#"{{"version":1,{began}"started":{started},"ended":{ended}}}"#);
    let file: RunFile = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&file).unwrap(), text);
}

#[test]
fn names_that_people_type_are_in_kebab_case() {
    let name = serde_json::to_value(FoulName::MemoryExceeded).unwrap();
    assert_eq!(name, "memory-exceeded");
    let name = serde_json::to_value(FindingName::TalksALot).unwrap();
    assert_eq!(name, "talks-a-lot");
}
