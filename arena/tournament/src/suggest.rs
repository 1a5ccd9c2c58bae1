//! "Did you mean": the known name that a mistyped one is most like.

/// Below this similarity (Jaro-Winkler, 0 to 1) nothing is suggested.
const ALIKE: f64 = 0.75;

/// The known name that is most like this one, if any is like it.
#[must_use]
pub fn closest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = name.to_lowercase();
    let alike = known
        .iter()
        .map(|known| (strsim::jaro_winkler(&name, known), *known));
    alike
        .filter(|(similarity, _)| *similarity >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

/// ` (did you mean NAME?)`, or nothing.
#[must_use]
pub fn hint(name: &str, known: &[&str]) -> String {
    closest(name, known).map_or_else(String::new, |like| format!(" (did you mean {like}?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_a_name_is_found() {
        let games = ["connect-four", "mahjong", "big-two", "othello"];
        for (typed, meant) in [
            ("conect-four", Some("connect-four")),
            ("connect4", Some("connect-four")),
            ("Othelo", Some("othello")),
            ("bigtwo", Some("big-two")),
            ("chess", None),
            ("", None),
        ] {
            assert_eq!(closest(typed, &games), meant, "{typed}");
        }
    }
}
