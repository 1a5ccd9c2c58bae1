//! The list of people that an organiser has: a CSV file, and the tokens that come of it.

use arena_store::{NewPerson, PersonNumber, Role};
use referee_core::expected_words;
use referee_net::Token;
use serde::Deserialize;

use crate::{ContestError, error::invalid, table};

/// The most people of a list.
const MOST: usize = 5000;

/// A person of the list, and the token, which is shown once.
#[derive(Clone, Debug)]
pub struct Invitation {
    /// The person, with the hash of the token.
    pub person: NewPerson,
    /// The token.
    pub token: Token,
}

/// A line of the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: String,
    #[serde(default)]
    pseudonym: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    team: Option<String>,
    #[serde(default)]
    group: Option<String>,
    #[serde(default)]
    role: Option<Role>,
}

/// Reads a list: CSV with the columns `name`, and if they are there `pseudonym`, `id` (the number at
/// the university), `team`, `group` (of the class) and `role` (`contestant` without it, `organiser`,
/// `guest`).
///
/// # Errors
///
/// [`ContestError::Invalid`] says what was expected, and in which line.
pub fn read_roster(text: &str) -> Result<Vec<Invitation>, ContestError> {
    // Spreadsheets begin with a mark, and some separate by semicolons.
    let text = text.trim_start_matches('\u{feff}');
    let head = text.lines().next().unwrap_or_default();
    let delimiter = match head.contains(';') && !head.contains(',') {
        true => b';',
        false => b',',
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let columns = reader
        .headers()
        .map(|head| head.iter().any(|one| one == "name"));
    if !columns.unwrap_or(false) {
        return invalid(
            "expected a first line with the names of the columns: name, and if you like \
             pseudonym, id, team, group, role",
        );
    }
    let mut invitations = Vec::new();
    for (at, line) in reader.deserialize::<Line>().enumerate() {
        let line = line.or_else(|error| invalid(format!("line {}: {}", at + 2, why(&error))))?;
        if line.name.is_empty() {
            return invalid(format!("line {}: expected a name", at + 2));
        }
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let token = Token::generate()?;
        let person = NewPerson {
            role: line.role.unwrap_or(Role::Contestant),
            name: line.name,
            pseudonym: filled(line.pseudonym),
            external_id: filled(line.id),
            section: filled(line.group),
            team: filled(line.team),
            token_hash: token.hash().to_string(),
        };
        invitations.push(Invitation { person, token });
        if invitations.len() > MOST {
            return invalid(format!("expected at most {MOST} people"));
        }
    }
    if invitations.is_empty() {
        return invalid("expected a line for each person, and found none");
    }
    Ok(invitations)
}

/// The tokens of people who were added under these numbers, as CSV: the only list that has them.
#[must_use]
pub fn token_list(numbers: &[PersonNumber], invitations: &[Invitation]) -> String {
    let head = ["person", "name", "id", "token"].map(str::to_owned);
    let people = numbers.iter().zip(invitations).map(|(number, one)| {
        vec![
            number.to_string(),
            one.person.name.clone(),
            one.person.external_id.clone().unwrap_or_default(),
            one.token.reveal().to_owned(),
        ]
    });
    table::csv([head.to_vec()].into_iter().chain(people))
}

/// What is wrong with a line, without where it is.
fn why(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => expected_words(&err.kind().to_string()),
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("expected {expected_len} cells, as the first line has, found {len}"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_from_a_spreadsheet_is_read() {
        let text = "\u{feff}name;id;team\nAnn Lee;2027001;red\n\"Bo; b\";;\n";
        let people = read_roster(text).unwrap();
        let [ann, bo] = &people[..] else {
            panic!("{people:?}");
        };
        assert_eq!(ann.person.team.as_deref(), Some("red"));
        assert_eq!(ann.person.external_id.as_deref(), Some("2027001"));
        assert_eq!(bo.person.name, "Bo; b");
        assert_eq!(bo.person.pseudonym, None);
        assert_eq!(bo.person.token_hash, bo.token.hash().to_string());
        assert_ne!(ann.token.reveal(), bo.token.reveal());
    }

    #[test]
    fn what_is_wrong_names_its_line() {
        for (text, expected) in [
            ("", "names of the columns"),
            ("Ann,Bo\n", "names of the columns"),
            ("name\n", "found none"),
            ("name,role\nAnn,teacher\n", "line 2"),
            ("name,shoe\nAnn,42\n", "line 2"),
            ("name,id\nAnn,1\n,2\n", "line 3: expected a name"),
        ] {
            let why = read_roster(text).unwrap_err().to_string();
            assert!(why.contains(expected), "{text}: {why}");
        }
    }
}
