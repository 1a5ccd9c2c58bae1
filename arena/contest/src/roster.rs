//! The list of people that an organiser has: a CSV file, and the tokens that come of it.

use arena_store::{NewPerson, Role};
use referee_net::Token;
use serde::Deserialize;

use crate::{ContestError, error::invalid};

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
/// `guest`). Whoever has no pseudonym is shown as `contestant` and a number from `first` on.
///
/// # Errors
///
/// [`ContestError::Invalid`] says what was expected, and in which line.
pub fn read_roster(text: &str, first: usize) -> Result<Vec<Invitation>, ContestError> {
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
        let line = line.or_else(|error| invalid(format!("line {}: {error}", at + 2)))?;
        if line.name.is_empty() {
            return invalid(format!("line {}: expected a name", at + 2));
        }
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let team = filled(line.team);
        let shown = filled(line.pseudonym).or_else(|| team.clone());
        let token = Token::generate()?;
        let person = NewPerson {
            role: line.role.unwrap_or(Role::Contestant),
            name: line.name,
            pseudonym: shown.unwrap_or_else(|| format!("contestant {}", first + at)),
            external_id: filled(line.id),
            section: filled(line.group),
            team,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_from_a_spreadsheet_is_read() {
        let text = "\u{feff}name;id;team\nAnn Lee;2027001;red\n\"Bo; b\";;\n";
        let people = read_roster(text, 1).unwrap();
        let [ann, bo] = &people[..] else {
            panic!("{people:?}");
        };
        assert_eq!(ann.person.team.as_deref(), Some("red"));
        assert_eq!(ann.person.pseudonym, "red");
        assert_eq!(ann.person.external_id.as_deref(), Some("2027001"));
        assert_eq!(bo.person.name, "Bo; b");
        assert_eq!(bo.person.pseudonym, "contestant 2");
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
            let why = read_roster(text, 1).unwrap_err().to_string();
            assert!(why.contains(expected), "{text}: {why}");
        }
    }
}
