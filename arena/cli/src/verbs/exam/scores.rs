//! The scoreboard: every contestant's best in each part of an exam, in a file
//! that is never half written.

use std::{
    collections::BTreeMap,
    fs::File,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use arena_events::exam::{ExamGroupEvent, ExamRank};
use nix::libc::O_NONBLOCK;
use referee_bots::{read_input_text, write_whole};
use referee_core::{expected_words, printable};
use serde::{Deserialize, Serialize};

use crate::{report, usage};

/// The most bytes of the file: some ten thousand contestants.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Exam, contestant, part: the most points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Scores(BTreeMap<String, BTreeMap<String, BTreeMap<String, i64>>>);

impl Scores {
    /// Adds what a contestant has scored to the file and gives the whole.
    pub(super) fn keep(
        file: &Path,
        exam: &str,
        bot: &str,
        parts: &[ExamGroupEvent],
    ) -> anyhow::Result<Self> {
        // Two exams may end at the same moment.
        let mut beside = file.as_os_str().to_owned();
        beside.push(".lock");
        let beside = PathBuf::from(beside);
        // Whatever is there under this name stays as it is.
        let mut empty = File::options();
        empty.create(true).append(true).custom_flags(O_NONBLOCK);
        let lock = empty
            .open(&beside)
            .with_context(|| format!("could not write {}", beside.display()))?;
        lock.lock()
            .with_context(|| format!("could not lock {}", beside.display()))?;
        let mut scores = Self::read(file)?;
        scores.add(exam, bot, parts);
        let text = serde_json::to_string_pretty(&scores)?;
        write_whole(file, text.as_bytes())
            .with_context(|| format!("could not write {}", file.display()))?;
        Ok(scores)
    }

    /// Content of the file; a file that is not there holds nothing.
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = match read_input_text(file, LARGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return match file.parent() {
                    Some(folder) if folder != Path::new("") && !folder.is_dir() => usage(format!(
                        "--scores {}: there is no folder {}",
                        file.display(),
                        folder.display()
                    )),
                    _ => Ok(Self::default()),
                };
            }
            Err(error) => return usage(format!("--scores {}: {error}", file.display())),
        };
        serde_json::from_str(&text).or_else(|error| {
            usage(format!(
                "--scores {}: expected a file that an exam has written: {}",
                file.display(),
                expected_words(&error.to_string())
            ))
        })
    }

    fn add(&mut self, exam: &str, bot: &str, parts: &[ExamGroupEvent]) {
        let exam = self.0.entry(exam.to_owned()).or_default();
        let best = exam.entry(bot.to_owned()).or_default();
        for ExamGroupEvent { part, marks, .. } in parts {
            let kept = best.entry(part.clone()).or_insert(*marks);
            *kept = (*kept).max(*marks);
        }
    }

    /// The contestants of an exam, best first; equal sums share a rank.
    pub(super) fn ranked(&self, exam: &str) -> Vec<ExamRank> {
        let ranks = self
            .0
            .get(exam)
            .into_iter()
            .flatten()
            .map(|(name, parts)| ExamRank {
                rank: 0,
                bot: printable(name),
                marks: parts
                    .values()
                    .fold(0, |sum: i64, &part| sum.saturating_add(part)),
                parts: parts.len() as u64,
            });
        in_order(ranks.collect())
    }
}

/// Contestants by their points, best first; equal sums share a rank.
pub(super) fn in_order(mut ranks: Vec<ExamRank>) -> Vec<ExamRank> {
    ranks.sort_by(|a, b| b.marks.cmp(&a.marks).then(a.bot.cmp(&b.bot)));
    let marks: Vec<i64> = ranks.iter().map(|one| one.marks).collect();
    for (one, rank) in ranks.iter_mut().zip(report::shared_ranks(&marks)) {
        one.rank = rank as u64;
    }
    ranks
}

/// The contestants of an exam as a table.
pub(super) fn show(title: &str, ranks: Vec<ExamRank>) -> anyhow::Result<()> {
    report::heading(title)?;
    let rows = ranks.into_iter().map(|rank| {
        [
            rank.rank.to_string(),
            rank.bot,
            rank.marks.to_string(),
            rank.parts.to_string(),
        ]
    });
    report::plain_table(&["#", "contestant", "points", "parts"], rows)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn parts(marks: &[(&str, i64)]) -> Vec<ExamGroupEvent> {
        let parts = marks.iter().map(|(part, marks)| ExamGroupEvent {
            part: (*part).to_owned(),
            games: 1,
            marks: *marks,
            max_marks: None,
        });
        parts.collect()
    }

    #[test]
    fn the_best_of_each_part_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scores.json");
        let keep = |name: &str, points: &[(&str, i64)]| {
            Scores::keep(&file, "connect_four", name, &parts(points)).unwrap()
        };
        keep("ann", &[("group 1", 80), ("group 2", 30)]);
        keep("ann", &[("group 1", 60), ("group 2", 45)]);
        keep("bob", &[("group 1", 100)]);
        let scores = keep("eve", &[("group 1", 125)]);
        assert_eq!(Scores::read(&file).unwrap(), scores);
        let ranks: Vec<_> = scores
            .ranked("connect_four")
            .into_iter()
            .map(|rank| (rank.rank, rank.bot, rank.marks))
            .collect();
        assert_eq!(
            ranks,
            [
                (1, "ann".to_owned(), 125),
                (1, "eve".to_owned(), 125),
                (3, "bob".to_owned(), 100)
            ]
        );
        assert_eq!(scores.ranked("mahjong"), []);
    }

    #[test]
    fn the_file_may_be_a_link_and_its_lock_empties_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("scores.lock", at("link")).unwrap();
        fs::write(at("link.lock"), "mine").unwrap();
        for (name, points) in [("ann", 10), ("bob", 20)] {
            Scores::keep(&at("link"), "mahjong", name, &parts(&[("case 1", points)])).unwrap();
            // It is a file like any other.
            let file = at("scores.lock");
            let scores = Scores::keep(&file, "mahjong", "eve", &parts(&[("case 1", 5)]));
            assert_eq!(scores.unwrap().ranked("mahjong")[0].bot, name);
        }
        assert!(at("link").is_symlink());
        let scores = Scores::read(&at("link")).unwrap();
        assert_eq!(scores.ranked("mahjong").len(), 3);
        assert_eq!(fs::read(at("link.lock")).unwrap(), b"mine");
    }

    #[test]
    fn no_figure_of_a_file_is_too_large() {
        let mut scores = Scores::default();
        scores.add("mahjong", "ann", &parts(&[("a", i64::MAX), ("b", 1)]));
        scores.add("mahjong", "bob", &parts(&[("a", i64::MIN), ("b", -1)]));
        let ranks = scores.ranked("mahjong");
        let points: Vec<_> = ranks.iter().map(|rank| rank.marks).collect();
        assert_eq!(points, [i64::MAX, i64::MIN]);
    }

    #[test]
    fn a_file_of_another_kind_is_refused_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.txt");
        fs::write(&file, "buy milk").unwrap();
        let error = Scores::keep(&file, "mahjong", "ann", &parts(&[("case 1", 5)]));
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("that an exam has written")
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "buy milk");
    }
}
