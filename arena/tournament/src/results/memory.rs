//! Results in memory, with record files beside them where that is wanted.

use std::{
    collections::BTreeMap,
    ops::{Bound, Range},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use arena_ladder::{Entrant, GroupScore};
use arena_store::{
    BegunGame, ChunkKey, CompleteGroup, Counter, Course, FinishedGame, FirstFoul, GameRow,
    GroupMark, Reported, ScoredGroup, StoredReport,
};
use parking_lot::Mutex;
use referee_worker::{
    RecordFolder,
    lease::{ChunkId, LeaseId, SessionId},
};

use super::{Results, ResultsAnswer, add_to, key, places_by_lineup};
use crate::TournamentError;

/// The results of one run, which are gone when the last clone is dropped. All clones are
/// the same results.
#[derive(Clone, Default)]
pub struct MemoryResults(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// The folder of records.
    records: Option<RecordFolder>,
    /// True if records are kept in memory too.
    keeps_all: bool,
    /// True if a record must not be seen while its deal has seatings to come.
    secrets: bool,
    kept: Mutex<KeptResults>,
}

#[derive(Default)]
struct KeptResults {
    games: BTreeMap<(u64, u32), GameRow>,
    attempts: BTreeMap<ChunkKey, u32>,
    scores: BTreeMap<u64, ScoredGroup>,
    /// Packed records of deals that have seatings to come, by group.
    withheld: BTreeMap<u64, Vec<(String, Vec<u8>)>>,
    records: Vec<Vec<u8>>,
}

impl MemoryResults {
    /// Results without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Results whose records go to a folder. In a game with secrets a record appears
    /// there when all seatings of its deal have been played.
    #[must_use]
    pub fn with_folder(records: RecordFolder, secrets: bool) -> Self {
        Self(Arc::new(Inner {
            records: Some(records),
            secrets,
            ..Inner::default()
        }))
    }

    /// Results whose packed records are kept, for whoever looks at them afterwards.
    #[must_use]
    pub fn with_records() -> Self {
        Self(Arc::new(Inner {
            keeps_all: true,
            ..Inner::default()
        }))
    }

    /// Every game, in order of group and seating.
    #[must_use]
    pub fn games(&self) -> Vec<GameRow> {
        self.0.kept.lock().games.values().cloned().collect()
    }

    /// Takes the packed records that were kept, in the order in which games ended.
    #[must_use]
    pub fn take_records(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.0.kept.lock().records)
    }

    async fn write(&self, records: Vec<(String, Vec<u8>)>) -> ResultsAnswer<()> {
        let Some(folder) = &self.0.records else {
            return Ok(());
        };
        for (game_id, packed) in records {
            let path = folder.file(&game_id);
            let written = folder.write_packed(&game_id, packed).await;
            written.map_err(|error| TournamentError::File { path, error })?;
        }
        Ok(())
    }
}

impl Results for MemoryResults {
    async fn lease(
        &self,
        chunk: ChunkId,
        _: &str,
        _: Option<SessionId>,
        _: Duration,
    ) -> ResultsAnswer<u32> {
        let mut kept = self.0.kept.lock();
        let attempt = kept.attempts.entry(key(chunk)).or_insert(0);
        *attempt += 1;
        Ok(*attempt)
    }

    async fn renew(&self, lease: LeaseId, _: Duration) -> ResultsAnswer<bool> {
        Ok(self.0.kept.lock().attempts.get(&key(lease.chunk)) == Some(&lease.attempt))
    }

    async fn release(&self, _: LeaseId) -> ResultsAnswer<()> {
        Ok(())
    }

    async fn report(&self, game_id: &str, game: FinishedGame) -> ResultsAnswer<StoredReport> {
        let FinishedGame {
            row,
            chunk,
            attempt,
            record,
            // These results are read when no more games are played.
            withhold: _,
            logs: _,
        } = game;
        let ready = {
            let mut kept = self.0.kept.lock();
            if (kept.attempts.get(&chunk)).is_some_and(|newest| attempt < *newest) {
                return Ok(unscored(Reported::Stale));
            }
            let (group, all) = (row.group, row.games_in_group);
            if kept.games.contains_key(&(group, row.seating)) {
                return Ok(unscored(Reported::Duplicate));
            }
            kept.games.insert((group, row.seating), row);
            let complete = kept.score(group, all);
            if self.0.keeps_all {
                kept.records.push(record.clone());
            }
            match &self.0.records {
                None => Vec::new(),
                Some(_) if !self.0.secrets => vec![(game_id.to_owned(), record)],
                Some(_) => {
                    let withheld = kept.withheld.entry(group).or_default();
                    withheld.push((game_id.to_owned(), record));
                    match complete {
                        true => std::mem::take(withheld),
                        false => Vec::new(),
                    }
                }
            }
        };
        self.write(ready).await?;
        Ok(unscored(Reported::Accepted))
    }

    fn keeps_records(&self) -> bool {
        self.0.keeps_all || self.0.records.is_some()
    }

    fn record_file(&self, game_id: &str) -> Option<PathBuf> {
        self.0.records.as_ref().map(|folder| folder.file(game_id))
    }

    async fn score(&self, group: u64) -> ResultsAnswer<Option<ScoredGroup>> {
        Ok(self.0.kept.lock().scores.get(&group).cloned())
    }

    async fn scores(&self) -> ResultsAnswer<BTreeMap<u64, ScoredGroup>> {
        Ok(self.0.kept.lock().scores.clone())
    }

    async fn begun(&self, within: &[Range<u64>]) -> ResultsAnswer<Vec<BegunGame>> {
        let kept = self.0.kept.lock();
        let begun = kept.games.values().filter(|game| {
            let is_asked = within.iter().any(|range| range.contains(&game.group));
            is_asked && !kept.scores.contains_key(&game.group)
        });
        let begun = begun.map(|game| BegunGame {
            group: game.group,
            seating: game.seating,
            course: Some(course(game)),
        });
        Ok(begun.collect())
    }

    async fn complete_groups(
        &self,
        after: Option<GroupMark>,
        limit: u32,
    ) -> ResultsAnswer<Vec<CompleteGroup>> {
        let kept = self.0.kept.lock();
        let groups = kept.scores.range((behind(after), Bound::Unbounded));
        let groups = groups.take(limit as usize);
        Ok(groups.map(|(_, scored)| kept.complete(scored)).collect())
    }

    async fn complete_groups_within(
        &self,
        within: &[Range<u64>],
    ) -> ResultsAnswer<Vec<CompleteGroup>> {
        let kept = self.0.kept.lock();
        let groups = within.iter().filter(|range| !range.is_empty());
        let groups = groups.flat_map(|range| kept.scores.range(range.clone()));
        Ok(groups.map(|(_, scored)| kept.complete(scored)).collect())
    }

    async fn courses(&self, after: Option<GroupMark>, to: GroupMark) -> ResultsAnswer<Vec<Course>> {
        let kept = self.0.kept.lock();
        let groups = kept
            .scores
            .range((behind(after), Bound::Included(to.group)));
        let games = groups.flat_map(|(group, _)| kept.games_of(*group));
        Ok(games.map(course).collect())
    }

    async fn counters(&self) -> ResultsAnswer<Vec<(Option<Entrant>, Counter, i64)>> {
        let kept = self.0.kept.lock();
        let mut sums: BTreeMap<(Option<Entrant>, &Counter), i64> = BTreeMap::new();
        for (who, counter, more) in kept.games.values().flat_map(|game| &game.counters) {
            *sums.entry((*who, counter)).or_insert(0) += more;
        }
        let sums = sums.into_iter();
        Ok(sums
            .map(|((who, counter), sum)| (who, counter.clone(), sum))
            .collect())
    }

    async fn first_fouls(&self) -> ResultsAnswer<Vec<FirstFoul>> {
        let kept = self.0.kept.lock();
        let mut firsts: BTreeMap<Entrant, FirstFoul> = BTreeMap::new();
        for game in kept.games.values() {
            for foul in &game.fouls {
                // A bot that fills a seat is no entrant.
                let Some(entrant) = game.lineup[game.order[foul.seat.index()]] else {
                    continue;
                };
                firsts.entry(entrant).or_insert_with(|| FirstFoul {
                    entrant,
                    group: game.group,
                    seating: game.seating,
                    foul: foul.foul.clone(),
                });
            }
        }
        Ok(firsts.into_values().collect())
    }

    fn payments(&self) -> BTreeMap<Entrant, i64> {
        let kept = self.0.kept.lock();
        let mut sums = BTreeMap::new();
        let mut is_paid = false;
        for game in kept.games.values() {
            is_paid |= game.scores.len() > 2 && game.scores.iter().any(|score| *score < 0);
            for (place, score) in game.order.iter().zip(&game.scores) {
                if let Some(who) = game.lineup[*place] {
                    *sums.entry(who).or_insert(0) += i64::from(*score);
                }
            }
        }
        match is_paid {
            true => sums,
            false => BTreeMap::new(),
        }
    }

    async fn earlier_games(&self, _: u64) -> ResultsAnswer<Vec<GameRow>> {
        Ok(Vec::new())
    }

    fn can_go_on(&self) -> bool {
        false
    }

    /// Writes the records of deals of which not all seatings were played: no other
    /// will be.
    async fn close(&self) -> ResultsAnswer<()> {
        let withheld = std::mem::take(&mut self.0.kept.lock().withheld);
        self.write(withheld.into_values().flatten().collect()).await
    }
}

impl KeptResults {
    fn games_of(&self, group: u64) -> impl Iterator<Item = &GameRow> {
        let games = self.games.range((group, 0)..=(group, u32::MAX));
        games.map(|(_, game)| game)
    }

    fn complete(&self, scored: &ScoredGroup) -> CompleteGroup {
        let group = scored.score.number;
        CompleteGroup {
            mark: GroupMark { change: 1, group },
            scored: scored.clone(),
            places: self.games_of(group).map(places_by_lineup).collect(),
        }
    }

    /// Scores a group where it is complete, and says whether it is.
    fn score(&mut self, group: u64, all: u32) -> bool {
        if self.games_of(group).count() < all as usize {
            return false;
        }
        let Some(first) = self.games_of(group).next() else {
            return false;
        };
        let (matchup, lineup) = (first.matchup, first.lineup.clone());
        let mut score = GroupScore::new(group, lineup.len());
        for game in self.games_of(group) {
            add_to(&mut score, game);
        }
        let scored = ScoredGroup {
            matchup,
            lineup,
            score,
        };
        self.scores.insert(group, scored);
        true
    }
}

/// The numbers of the groups behind a mark: here they are in order of their numbers.
fn behind(mark: Option<GroupMark>) -> Bound<u64> {
    mark.map_or(Bound::Unbounded, |mark| Bound::Excluded(mark.group))
}

const fn course(game: &GameRow) -> Course {
    Course {
        course: game.course,
        has_moves: game.plies > 0,
    }
}

/// The score is asked for: it costs nothing here.
const fn unscored(reported: Reported) -> StoredReport {
    StoredReport {
        reported,
        scored: None,
    }
}
