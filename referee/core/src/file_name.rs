//! Names that others gave, as names of files: the one way by which a name becomes a part of a
//! path.

use sha2::{Digest as _, Sha256};

/// Longest part of a name that stands in the name of a file, in bytes: with what is added before
/// and behind it stays below 255, which is what file systems take.
const LONGEST: usize = 160;
/// Number of bytes of its hash that tell a name from others that look like it.
const TOLD_APART: usize = 8;

/// A name of a file for something with this name: one component, without a separator, that neither
/// is nor begins with a dot. A name that is one already stays as it is: up to 160 bytes of letters,
/// digits, dots, hyphens and underscores, which begin with a letter or digit. Any other name gets
/// hyphens for what can't stand there, and a hash behind it, so that two names have two files.
#[must_use]
pub fn file_name(name: &str) -> String {
    let may_stand = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let begins = name.starts_with(char::is_alphanumeric);
    if begins && name.len() <= LONGEST && name.chars().all(may_stand) {
        return name.to_owned();
    }
    let hash = Sha256::digest(name);
    let shown = name.chars().map(|c| if may_stand(c) { c } else { '-' });
    let shown: String = shown.skip_while(|c| !c.is_alphanumeric()).collect();
    let room = LONGEST - 2 * TOLD_APART - 2;
    let shown = &shown[..shown.floor_char_boundary(room)];
    format!("x-{shown}-{}", hex::encode(&hash[..TOLD_APART]))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Component, path::Path};

    use super::*;

    #[test]
    fn a_name_that_can_be_one_of_a_file_stays_as_it_is() {
        for name in [
            "uct",
            "my_bot-2.1",
            "самый_лучший",
            "match-0000-deal-0000-game-0",
        ] {
            assert_eq!(file_name(name), name);
        }
    }

    #[test]
    fn every_name_is_one_file_within_its_folder_and_no_two_are_the_same() {
        let long = "x".repeat(5000);
        let wide = "好".repeat(3000);
        let names = [
            "",
            ".",
            "..",
            "...",
            "/",
            "//",
            "/etc/passwd",
            "../../x",
            "../../y",
            "a/../../x",
            "a/b",
            "a-b",
            "x\0y",
            "x\ny",
            "\u{1b}[2J",
            ".hidden",
            "-rf",
            "a b",
            "a\\b",
            "~",
            &long,
            &long[1..],
            &wide,
            "\u{202e}x",
            "CON:",
            "x-..-x",
        ];
        let files: BTreeSet<String> = names.iter().map(|name| file_name(name)).collect();
        assert_eq!(files.len(), names.len(), "{files:?}");
        for file in &files {
            let path = format!("{file}-lot4294967295-4294967295.jsonl.zst");
            assert!(path.len() < 255, "{path}");
            assert!(file.starts_with(char::is_alphanumeric), "{file}");
            assert!(
                file.chars()
                    .all(|c| c.is_alphanumeric() || "._-".contains(c))
            );
            let mut parts = Path::new(file).components();
            assert_eq!(parts.next(), Some(Component::Normal(file.as_ref())));
            assert_eq!(parts.next(), None);
        }
    }
}
