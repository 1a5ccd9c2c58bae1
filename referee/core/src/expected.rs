//! Errors of readers of JSON, TOML and numbers, in words of what was written and what was
//! expected.

/// Names of types in such errors, and what a person writes.
const TYPES: &[(&str, &str)] = &[
    ("u8", "a whole number of 0 to 255"),
    ("u16", "a whole number of 0 to 65535"),
    ("u32", "a whole number of 0 to 4294967295"),
    ("u64", "a whole number from 0"),
    ("usize", "a whole number from 0"),
    ("i32", "a whole number"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("a sequence", "a list"),
    ("a map", "an object"),
    ("a boolean", "true or false"),
    ("a string", "a text"),
    ("fewer elements in array", "a shorter one"),
];

/// Names of what was found.
const FOUND: &[(&str, &str)] = &[
    ("integer ", ""),
    ("floating point ", ""),
    ("boolean ", ""),
    ("string ", "the text "),
    ("sequence", "a list"),
    ("map", "an object"),
    ("null", "null"),
    ("unit value", "null"),
];

/// The error of a reader of JSON or TOML without the names that its types have in a program:
/// `expected a whole number of 0 to 255, found 300`.
#[must_use]
pub fn expected_words(error: &str) -> String {
    let rewritten = error
        .lines()
        .map(|line| of_line(line).unwrap_or_else(|| line.to_owned()));
    rewritten.collect::<Vec<_>>().join("\n")
}

fn of_line(line: &str) -> Option<String> {
    let kinds = ["invalid type: ", "invalid value: ", "invalid length "];
    let (begin, kind) = kinds
        .iter()
        .find_map(|kind| Some((line.find(kind)?, *kind)))?;
    let (before, rest) = (&line[..begin], &line[begin + kind.len()..]);
    let (found, wanted) = rest.rsplit_once(", expected ")?;
    // The place that serde_json adds.
    let (wanted, place) = match wanted.find(" at line ") {
        Some(at) => wanted.split_at(at),
        None => (wanted, ""),
    };
    let found = match kind {
        "invalid length " => format!("{found} of them"),
        _ => {
            let known = FOUND.iter().find(|(name, _)| found.starts_with(name));
            let (name, word) = known.copied().unwrap_or(("", ""));
            format!("{word}{}", found[name.len()..].trim_matches('`'))
        }
    };
    let wanted = match wanted.strip_prefix("an array of length ") {
        Some(length) => format!("a list of {length}"),
        None => {
            let known = TYPES.iter().find(|(name, _)| *name == wanted);
            known.map_or(wanted, |(_, words)| words).to_owned()
        }
    };
    Some(format!("{before}expected {wanted}, found {found}{place}"))
}

/// The words for an argument that is no number, or none within its range, of the parser's error;
/// none where that says already what was expected. A number that would be taken comes with it.
#[must_use]
pub fn expected_number(error: &str) -> Option<(String, String)> {
    if let Some((_, range)) = error.split_once(" is not in ") {
        let (first, last) = range.split_once("..")?;
        let words = match last.strip_prefix('=') {
            Some(last) => format!("expected a whole number of {first} to {last}"),
            None if last.is_empty() => format!("expected a whole number from {first}"),
            None => format!("expected a whole number of {first} to less than {last}"),
        };
        return Some((words, first.to_owned()));
    }
    let (words, example) = match error {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            ("expected a whole number", "1")
        }
        "number too large to fit in target type" => ("expected a smaller number", "1"),
        "number too small to fit in target type" => ("expected a larger number", "1"),
        "invalid float literal" | "cannot parse float from empty string" => {
            ("expected a number", "1")
        }
        _ => return None,
    };
    Some((words.to_owned(), example.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_programs_are_put_into_words() {
        for (error, words) in [
            (
                "invalid value: integer `300`, expected u8",
                "expected a whole number of 0 to 255, found 300",
            ),
            (
                "invalid type: string \"x, expected\", expected u8",
                "expected a whole number of 0 to 255, found the text \"x, expected\"",
            ),
            (
                "invalid type: integer `1`, expected an array of length 2",
                "expected a list of 2, found 1",
            ),
            (
                "invalid type: sequence, expected a string",
                "expected a text, found a list",
            ),
            (
                "invalid length 3, expected fewer elements in array",
                "expected a shorter one, found 3 of them",
            ),
            (
                "invalid type: null, expected a map at line 1 column 4",
                "expected an object, found null at line 1 column 4",
            ),
            (
                "TOML parse error at line 4, column 10\n  |\n4 | rounds = -1\n  |          ^^\n\
                 invalid value: integer `-1`, expected u32",
                "TOML parse error at line 4, column 10\n  |\n4 | rounds = -1\n  |          ^^\n\
                 expected a whole number of 0 to 4294967295, found -1",
            ),
            ("missing field `y`", "missing field `y`"),
        ] {
            assert_eq!(expected_words(error), words);
        }
    }

    #[test]
    fn a_number_is_told_with_its_range() {
        let told = |error: &str| expected_number(error).map(|(words, _)| words);
        let parse = |text: &str| text.parse::<u64>().unwrap_err().to_string();
        for (error, words) in [
            (parse("abc"), "expected a whole number"),
            (parse(""), "expected a whole number"),
            (
                parse("99999999999999999999999"),
                "expected a smaller number",
            ),
            (
                "0 is not in 1..=10".to_owned(),
                "expected a whole number of 1 to 10",
            ),
            (
                "0 is not in 1..".to_owned(),
                "expected a whole number from 1",
            ),
        ] {
            assert_eq!(told(&error).as_deref(), Some(words), "{error}");
        }
        assert_eq!(told("expected a length of time such as 3s"), None);
    }
}
