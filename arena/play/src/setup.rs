//! Set-ups as people write them: part by part.

use referee_core::{GameKind, SetupError};
use serde_json::{Value, json};

/// The parts of a set-up that people choose, with what each is by default. Null or `"random"` is
/// drawn.
#[must_use]
pub fn setup_parts(kind: &dyn GameKind) -> Vec<(String, Value)> {
    let full = kind.setup(&json!({})).unwrap_or_default();
    match full {
        Value::Object(parts) => parts.into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A set-up with one part as somebody wrote it: JSON, a word, two numbers for a cell, or `random`
/// or `default` for what the game does by itself.
///
/// # Errors
///
/// No game can begin like this.
pub fn setup_with(
    kind: &dyn GameKind,
    setup: &Value,
    key: &str,
    written: &str,
) -> Result<Value, SetupError> {
    let mut forms = Vec::new();
    if matches!(written, "random" | "default" | "随机" | "默认") {
        forms.push(None);
    }
    forms.extend(serde_json::from_str(written).ok().map(Some));
    if forms.is_empty() {
        forms.push(Some(json!(written)));
    }
    let numbers = written.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u8> = numbers.filter_map(|number| number.parse().ok()).collect();
    if let [x, y] = numbers[..] {
        forms.push(Some(json!({"at": {"x": x, "y": y}})));
    }
    let mut refused = None;
    for form in forms {
        let mut changed = match setup {
            Value::Object(parts) => parts.clone(),
            _ => serde_json::Map::new(),
        };
        match form {
            None => drop(changed.remove(key)),
            Some(form) => drop(changed.insert(key.to_owned(), form)),
        }
        let changed = Value::Object(changed);
        match kind.setup(&changed) {
            Ok(_) => return Ok(changed),
            // The first form is the likeliest one.
            Err(error) => drop(refused.get_or_insert(error)),
        }
    }
    match refused {
        Some(error) => Err(error),
        None => Ok(setup.clone()),
    }
}
