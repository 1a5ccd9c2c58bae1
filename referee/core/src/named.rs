//! Set-ups of named parts in one line, such as `9x9,forbidden=4:4`: what the parts are, which JSON
//! they stand for, and a line that would be taken in place of one that is refused.

use serde_json::{Map, Value};

use crate::{Game, JsonBounds, SetupError, expected_words, shorten};

/// A line that is longer is no example where a shorter one is there.
const LONG_EXAMPLE: usize = 80;
/// The most letters of a reason, so that an error has room for the example.
const LONGEST_REASON: usize = 200;

/// What somebody may have meant by the text of one part of a set-up, the likeliest first: None is
/// what the game does by itself (`random`, `default`), else it is JSON: the text as it is, or a
/// string. The last ones are the same in small letters.
#[must_use]
pub fn part_forms(written: &str) -> Vec<Option<Value>> {
    let small = written.to_lowercase();
    let mut forms = Vec::new();
    if matches!(&*small, "random" | "default" | "随机" | "默认") {
        forms.push(None);
    }
    for text in [written, &small] {
        let json = JsonBounds::SETUP.read(text.as_bytes()).ok();
        for form in json.into_iter().chain([Value::from(text)]) {
            let form = Some(form);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// Reads a line of named parts. None if the line is in another form.
pub(crate) fn read<G: Game>(line: &str) -> Option<Result<G::Setup, SetupError>> {
    is_named::<G>(line).then(|| setup::<G>(line).map_err(|why| refusal::<G>(line, &why)))
}

/// The error about a line, with a whole line that would be taken.
pub(crate) fn refusal<G: Game>(line: &str, why: &str) -> SetupError {
    SetupError(format!(
        "{}; expected a set-up such as {}",
        shorten(why, LONGEST_REASON),
        example::<G>(line)
    ))
}

/// A whole line that would be taken, of those that the game has as examples: in the form of this
/// line, and with the same parts, as far as there is one.
fn example<G: Game>(line: &str) -> &'static str {
    let lines = G::INFO.setup_lines;
    let alike = lines.iter().filter(|one| form::<G>(one) == form::<G>(line));
    // The first of those that have most in common: max_by_key gives the last one.
    let best = alike.rev().max_by_key(|one| match form::<G>(line) {
        LineForm::Named => keys(one)
            .filter(|key| keys(line).any(|of| of == *key))
            .count(),
        LineForm::Json | LineForm::Notation => 0,
    });
    let short = || lines.iter().filter(|one| form::<G>(one) != LineForm::Json);
    match best {
        Some(best) if best.len() <= LONG_EXAMPLE => best,
        best => short()
            .min_by_key(|one| one.len())
            .or(best)
            .copied()
            .unwrap_or("{}"),
    }
}

/// The form of a set-up in one line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineForm {
    Json,
    Named,
    Notation,
}

fn form<G: Game>(line: &str) -> LineForm {
    if line.trim_start().starts_with('{') {
        LineForm::Json
    } else if is_named::<G>(line) {
        LineForm::Named
    } else {
        LineForm::Notation
    }
}

fn is_named<G: Game>(line: &str) -> bool {
    let first = line.split(',').next().unwrap_or_default();
    line.contains('=') || G::read_word(first.trim()).is_some()
}

/// The keys of a line, as they are in JSON.
fn keys(line: &str) -> impl Iterator<Item = String> {
    let parts = line.split(',');
    parts.filter_map(|part| Some(key(part.split_once('=')?.0)))
}

/// A key as it is in JSON: `missing_suit` for `missing-suit`.
fn key(written: &str) -> String {
    written.trim().to_lowercase().replace('-', "_")
}

/// A part of a line.
enum Part<'a> {
    /// A word of its own, and the members of the set-up that it stands for.
    Word(&'a str, Map<String, Value>),
    /// A key and the text of its value.
    Named(String, String),
}

/// The parts of a line. A comma is between two parts if a key follows, or a word of its own; else
/// it is one of the value.
fn parts<G: Game>(line: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    for piece in line.split(',') {
        let word = piece.trim();
        if let Some((written, value)) = piece.split_once('=') {
            parts.push(Part::Named(key(written), value.to_owned()));
        } else if let Some(members) = G::read_word(word) {
            parts.push(Part::Word(word, members));
        } else if let Some(Part::Named(_, value)) = parts.last_mut() {
            value.push(',');
            value.push_str(piece);
        } else {
            return Err(format!(
                "expected KEY=VALUE, found \"{}\"",
                shorten(word, 40)
            ));
        }
    }
    Ok(parts)
}

/// The set-up of a line. What a word stands for gives way to what has a key.
fn setup<G: Game>(line: &str) -> Result<G::Setup, String> {
    let mut word: Option<(&str, Map<String, Value>)> = None;
    let mut named: Vec<(String, Option<Value>)> = Vec::new();
    for part in parts::<G>(line)? {
        match (part, &word) {
            (Part::Word(found, _), Some((other, _))) => {
                return Err(format!("found {other} and {found}, of which one is enough"));
            }
            (Part::Word(found, members), None) => {
                for (key, value) in &members {
                    check_member::<G>(key, value)?;
                }
                word = Some((found, members));
            }
            (Part::Named(key, value), _) => {
                if named.iter().any(|(other, _)| *other == key) {
                    return Err(format!("found {key} twice"));
                }
                let value = member::<G>(&key, value.trim())?;
                named.push((key, value));
            }
        }
    }
    let mut members = word.map(|(_, members)| members).unwrap_or_default();
    for (key, value) in named {
        match value {
            Some(value) => drop(members.insert(key, value)),
            None => drop(members.remove(&key)),
        }
    }
    read_members::<G>(members)
}

/// The JSON of a part; None is what the game does by itself.
fn member<G: Game>(key: &str, written: &str) -> Result<Option<Value>, String> {
    let known: Vec<&str> = G::INFO.setup.iter().map(|part| part.name.english).collect();
    if !known.contains(&key) {
        return Err(format!(
            "expected one of the parts {}, found \"{}\"",
            known.join(", "),
            shorten(key, 40)
        ));
    }
    let mut refused = None;
    for form in part_forms(written) {
        let Some(value) = form else {
            return Ok(None);
        };
        match check_member::<G>(key, &value) {
            Ok(()) => return Ok(Some(value)),
            // The first form is the likeliest one.
            Err(why) => drop(refused.get_or_insert(why)),
        }
    }
    Err(refused.unwrap_or_default())
}

/// Checks that a part can be read, whatever the others are. The error begins with its key.
fn check_member<G: Game>(key: &str, value: &Value) -> Result<(), String> {
    let alone = Map::from_iter([(key.to_owned(), value.clone())]);
    read_members::<G>(alone)
        .map(drop)
        .map_err(|why| match why.starts_with(&format!("{key}: ")) {
            true => why,
            false => format!("{key}: {why}"),
        })
}

fn read_members<G: Game>(members: Map<String, Value>) -> Result<G::Setup, String> {
    let read = serde_json::from_value(Value::Object(members));
    read.map_err(|error| expected_words(&error.to_string()))
}
