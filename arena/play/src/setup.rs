//! Set-ups as people write them: part by part.

use referee_core::{GameKind, SetupError, part_forms};
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

/// A set-up with one part as somebody wrote it: JSON, a text in the notation of the game, or
/// `random` or `default` for what the game does by itself.
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
    let mut refused = None;
    for form in part_forms(written) {
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

#[cfg(test)]
mod tests {
    use referee_games::game;

    use super::*;

    /// A part is read as people write it, and as it is shown.
    #[test]
    fn parts_are_written_as_in_a_line() {
        let wall = "1111222233334444555566667777888899";
        for (name, key, written) in [
            ("connect-four", "moves", "3 3 4"),
            ("connect-four", "moves", "3"),
            ("connect-four", "moves", "[3,3,4]"),
            ("connect-four", "board", "..../..O./#XX./XOOX"),
            ("connect-four", "forbidden", "4 4"),
            ("connect-four", "forbidden", "(4, 4)"),
            ("connect-four", "forbidden", "4:4"),
            ("connect-four", "forbidden", "none"),
            ("connect-four", "rows", "9"),
            ("othello", "moves", "f5 d6 c3"),
            (
                "othello",
                "position",
                "---------------------------OX------XO--------------------------- X",
            ),
            ("mahjong", "hands", "122367c1478b138d 4589c23569b2579d"),
            ("mahjong", "missing_suit", "Free"),
            ("big-two", "reversal", "false"),
            (
                "big-two",
                "hands",
                referee_games::GAMES[3].info().setup_lines[0],
            ),
        ] {
            let kind = game(name).unwrap();
            let set = |written: &str| setup_with(kind, &json!({}), key, written);
            let setup = set(written).unwrap_or_else(|error| panic!("{key} {written}: {error}"));
            let full = kind.setup(&setup).unwrap();
            // What is shown of it is read back.
            let shown = match &full[key] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let again = set(&shown).unwrap_or_else(|error| panic!("{key} {shown}: {error}"));
            assert_eq!(kind.setup(&again), Ok(full), "{shown}");
            assert_eq!(kind.setup(&set("random").unwrap()), kind.setup(&json!({})));
        }
        let refused = setup_with(game("mahjong").unwrap(), &json!({}), "hands", wall);
        assert!(refused.unwrap_err().0.contains("such as"));
    }
}
