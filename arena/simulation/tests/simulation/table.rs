//! The result of a tournament, whoever played it.

use std::collections::BTreeMap;

use arena_store::{GameRow, ScoredGroup};

/// Result of a tournament, whoever played.
#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    /// By group and seating.
    games: BTreeMap<(u64, u32), CameOut>,
    groups: BTreeMap<u64, ScoredGroup>,
}

/// Result of a game: its play hash, places and scores.
type CameOut = (String, Vec<u8>, Vec<i32>);

impl Table {
    /// The table of these games.
    pub(crate) fn new(
        games: &[GameRow],
        groups: BTreeMap<u64, ScoredGroup>,
    ) -> Result<Self, String> {
        let rows = games.iter().map(|row| {
            let came_out = (
                row.play_hash.clone(),
                row.places.clone(),
                row.scores.clone(),
            );
            ((row.group, row.seating), came_out)
        });
        let by_key: BTreeMap<_, _> = rows.collect();
        if by_key.len() != games.len() {
            return Err("a game counts twice".to_owned());
        }
        Ok(Self {
            games: by_key,
            groups,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.games.len()
    }

    /// Checks that it is that of an undisturbed run; of one that was cancelled, a part of it.
    pub(crate) fn compare(&self, expected: &Self, is_cancelled: bool) -> Result<(), String> {
        for (key, game) in &expected.games {
            match self.games.get(key) {
                None if is_cancelled => {}
                None => return Err(format!("game {}.{} is lost", key.0, key.1)),
                Some(found) if found != game => {
                    return Err(format!(
                        "game {}.{} came out as {found:?}, undisturbed as {game:?}",
                        key.0, key.1
                    ));
                }
                Some(_) => {}
            }
        }
        let mut found = self.games.keys();
        if let Some(key) = found.find(|key| !expected.games.contains_key(key)) {
            return Err(format!("game {}.{} is not in the schedule", key.0, key.1));
        }
        for (group, score) in &expected.groups {
            match self.groups.get(group) {
                None if is_cancelled => {}
                found if found != Some(score) => {
                    return Err(format!(
                        "group {group} has the score {found:?}, undisturbed {score:?}"
                    ));
                }
                _ => {}
            }
        }
        let mut found = self.groups.keys();
        match found.find(|group| !expected.groups.contains_key(group)) {
            Some(group) => Err(format!("group {group} is not in the schedule")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(scores: &[i32]) -> Table {
        let came_out = |score: &i32| ("hash".to_owned(), vec![1, 2], vec![*score, 0]);
        Table {
            games: (0..)
                .map(|group| (group, 0))
                .zip(scores.iter().map(came_out))
                .collect(),
            groups: BTreeMap::new(),
        }
    }

    #[test]
    fn a_table_is_the_expected_one_or_what_differs_is_said() {
        let expected = table(&[1, 2, 3]);
        assert_eq!(table(&[1, 2, 3]).compare(&expected, false), Ok(()));
        assert_eq!(table(&[1, 2]).compare(&expected, true), Ok(()));
        for (scores, is_cancelled, says) in [
            (&[1, 2][..], false, "game 2.0 is lost"),
            (&[1, 5], true, "game 1.0 came out as"),
            (&[1, 2, 3, 4], false, "game 3.0 is not in the schedule"),
        ] {
            let why = table(scores).compare(&expected, is_cancelled).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }
}
