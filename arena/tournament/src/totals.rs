//! What is summed over the results of a run: the schedule that all scores were told, groups that
//! came out the same, the different games. Sums are kept in the store, and what came after them is added, so that
//! the table of a million games is there as soon as that of a hundred.

use std::{
    collections::{BTreeMap, HashSet},
    num::NonZeroU64,
    ops::Range,
};

use arena_ladder::{
    GroupCount, GroupCounts, GroupScore, Schedule,
    schedule::{self, restored},
};
use arena_store::{CompleteGroup, Course, EVERY_GROUP, GroupMark, KeptTotals, NewTotals};
use referee_core::Root;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Definition, Results, TournamentError, chance};

/// Raised whenever what the sums have or mean changes.
const VERSION: u32 = 1;
/// Sums over so many more groups are kept.
pub(crate) const KEPT_EVERY: u64 = if cfg!(test) { 5 } else { 10_000 };
/// Number of groups that are read at a time.
const PAGE: u32 = if cfg!(test) { 3 } else { 10_000 };
/// Most parts of the groups of which each has counts of its own.
const PARTS: u64 = 40;

/// Numbers of games, and of those that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DistinctGames {
    /// Number of different games.
    pub(crate) of_all: u64,
    /// Number of games that have a move.
    pub(crate) with_moves: u64,
    /// Number of different games among those.
    pub(crate) of_those_with_moves: u64,
}

/// The sums over all groups up to a mark.
pub(crate) struct Totals {
    /// The schedule after the scores. None where what it leaves to chance is not known here.
    pub(crate) schedule: Option<Box<dyn Schedule>>,
    /// Number of groups.
    pub(crate) groups: u64,
    /// The groups that came out the same.
    pub(crate) parts: PartCounts,
    /// The last of the groups, in the order in which they became complete.
    pub(crate) mark: Option<GroupMark>,
    distinct: DistinctGames,
    courses: Courses,
    /// Scores of groups that the schedule has not named.
    waiting: BTreeMap<u64, GroupScore>,
    ahead: LookAhead,
    /// The revision from which this was summed on.
    revision: Option<u64>,
    /// Number of groups since then.
    new_groups: u64,
}

/// The sums as they are kept, without the courses.
#[derive(Serialize, Deserialize)]
struct TotalsState {
    schedule: Option<String>,
    groups: u64,
    parts: PartCounts,
    distinct: DistinctGames,
    mark: Option<GroupMark>,
}

impl Totals {
    /// The sums over all results: those that are kept, and what came after them. They are kept in
    /// turn if that is much.
    ///
    /// # Errors
    ///
    /// The results can't be read, or are not of this definition.
    pub(crate) async fn of<R: Results>(
        results: &R,
        definition: &Definition,
        entrants: usize,
        root: Option<&Root>,
    ) -> Result<Self, TournamentError> {
        let made_by = made_by(definition, entrants, root);
        let kept = results.kept_totals().await?;
        let kept = kept.filter(|kept| kept.made_by == made_by);
        let mut totals = match kept.and_then(|kept| Self::restored(&kept, definition)) {
            Some(known) => known,
            None => Self::new(definition, entrants, root)?,
        };
        if !totals.sum(results).await? {
            totals = Self::new(definition, entrants, root)?;
            totals.sum(results).await?;
        }
        // A schedule that does not ask for a score may do so when it knows more.
        if totals.new_groups >= KEPT_EVERY && totals.waiting.is_empty() {
            totals.keep(results, &made_by).await;
        }
        Ok(totals)
    }

    /// True if what is kept and what came after it is what all results sum up to.
    ///
    /// # Errors
    ///
    /// The results can't be read, or are not of this definition.
    pub(crate) async fn are_right<R: Results>(
        results: &R,
        definition: &Definition,
        entrants: usize,
        root: Option<&Root>,
    ) -> Result<bool, TournamentError> {
        let known = Self::of(results, definition, entrants, root).await?;
        if known.revision.is_none() {
            // Nothing was kept: these were summed from the first result on.
            return Ok(true);
        }
        let mut anew = Self::new(definition, entrants, root)?;
        anew.sum(results).await?;
        let of_schedule = |totals: &Self| {
            let schedule = totals.schedule.as_ref()?;
            let ends = (
                schedule.uncounted(),
                schedule.set_aside(),
                schedule.ranking(),
            );
            Some((schedule.rounds(), ends))
        };
        Ok((known.groups, &known.parts, known.distinct)
            == (anew.groups, &anew.parts, anew.distinct)
            && of_schedule(&known) == of_schedule(&anew))
    }

    /// Adds all groups that follow. False if the courses of those before them are not known: somebody else
    /// may have summed on meanwhile.
    async fn sum<R: Results>(&mut self, results: &R) -> Result<bool, TournamentError> {
        loop {
            let page = results.complete_groups(self.mark, PAGE).await?;
            let Some(last) = page.last().map(|group| group.mark) else {
                return Ok(true);
            };
            if !self.knows_courses(results).await? {
                return Ok(false);
            }
            let courses = results.courses(self.mark, last).await?;
            self.add(page, &courses)?;
        }
    }

    fn new(
        definition: &Definition,
        entrants: usize,
        root: Option<&Root>,
    ) -> Result<Self, TournamentError> {
        let schedule = root.map(|root| definition.schedule(entrants, chance(root)));
        Ok(Self {
            schedule: schedule.transpose()?,
            groups: 0,
            parts: PartCounts::default(),
            distinct: DistinctGames::default(),
            courses: Courses::default(),
            mark: None,
            waiting: BTreeMap::new(),
            ahead: LookAhead::default(),
            revision: None,
            new_groups: 0,
        })
    }

    /// None if what is kept can't be read.
    fn restored(kept: &KeptTotals, definition: &Definition) -> Option<Self> {
        let read = || -> Result<Self, serde_json::Error> {
            let state: TotalsState = serde_json::from_str(&kept.state)?;
            let schedule = state.schedule.as_deref();
            let schedule = schedule.map(|schedule| restored(&definition.shape, schedule));
            Ok(Self {
                schedule: schedule.transpose()?,
                groups: state.groups,
                parts: state.parts,
                distinct: state.distinct,
                courses: Courses::default(),
                mark: state.mark,
                waiting: BTreeMap::new(),
                ahead: LookAhead::default(),
                revision: Some(kept.revision),
                new_groups: 0,
            })
        };
        let read = read();
        if let Err(error) = &read {
            tracing::warn!(%error, "the sums that are kept can't be read; they are made anew");
        }
        read.ok()
    }

    /// Reads the courses that are kept. False if they are of another revision, or not all there.
    async fn knows_courses<R: Results>(&mut self, results: &R) -> Result<bool, TournamentError> {
        let Some(revision) = self.revision.filter(|_| !self.courses.is_read) else {
            return Ok(true);
        };
        let Some(parts) = results.kept_courses(revision).await? else {
            return Ok(false);
        };
        if parts.iter().map(Vec::len).sum::<usize>() as u64 != self.distinct.of_all {
            tracing::warn!("courses of games are missing among those that are kept");
            return Ok(false);
        }
        self.courses = Courses::kept(parts);
        Ok(true)
    }

    /// Adds the groups that follow, and the courses of their games.
    fn add(
        &mut self,
        groups: Vec<CompleteGroup>,
        courses: &[Course],
    ) -> Result<(), TournamentError> {
        for course in courses {
            let is_new = self.courses.add(course.course);
            self.distinct.add(*course, is_new);
        }
        self.new_groups += groups.len() as u64;
        self.groups += groups.len() as u64;
        for group in groups {
            let score = &group.scored.score;
            self.parts.add(score.number, group.count());
            self.mark = Some(group.mark);
            if let Some(schedule) = &mut self.schedule {
                self.ahead.see(score.number);
                if schedule.record(score).is_err() {
                    self.waiting.insert(score.number, group.scored.score);
                }
            }
        }
        let Some(schedule) = &mut self.schedule else {
            return Ok(());
        };
        while !self.waiting.is_empty()
            && let Some(group) = schedule.next()
            && self.ahead.is_near(group.number)
        {
            if let Some(score) = self.waiting.remove(&group.number) {
                schedule.record(&score)?;
            }
        }
        Ok(())
    }

    /// The numbers of games, with these of groups that are not complete.
    ///
    /// # Errors
    ///
    /// The courses that are kept can't be read.
    pub(crate) async fn distinct<R: Results>(
        &mut self,
        results: &R,
        begun: &[Course],
    ) -> Result<DistinctGames, TournamentError> {
        let mut distinct = self.distinct;
        if !begun.is_empty() && self.knows_courses(results).await? {
            let mut seen = HashSet::new();
            for course in begun {
                let is_new = !self.courses.has(course.course) && seen.insert(course.course);
                distinct.add(*course, is_new);
            }
        }
        Ok(distinct)
    }

    /// The numbers of all groups that are not complete, or do not count; with those that have none.
    pub(crate) fn unsettled(&self) -> Vec<Range<u64>> {
        match &self.schedule {
            Some(schedule) => [schedule.open(), schedule.uncounted()].concat(),
            None => vec![EVERY_GROUP],
        }
    }

    /// Keeps them; who can't has to sum the same again the next time.
    async fn keep<R: Results>(&mut self, results: &R, made_by: &str) {
        let same_parts = self.courses.seal();
        let state = TotalsState {
            schedule: self.schedule.as_ref().map(|schedule| schedule.state()),
            groups: self.groups,
            parts: self.parts.clone(),
            distinct: self.distinct,
            mark: self.mark,
        };
        let state = serde_json::to_string(&state).expect("the keys of its maps are numbers");
        let new = NewTotals {
            replaces: self.revision,
            made_by,
            state: &state,
            same_parts,
            parts: &self.courses.parts[same_parts..],
        };
        match results.keep_totals(new).await {
            Ok(kept) => tracing::debug!(groups = self.groups, kept, "sums are to be kept"),
            Err(error) => tracing::debug!(%error, "sums were not kept"),
        }
    }
}

/// By which program, over what and in which form it is summed.
fn made_by(definition: &Definition, entrants: usize, root: Option<&Root>) -> String {
    let definition = serde_json::to_string(definition).expect("a definition is JSON");
    let over = Sha256::new()
        .chain_update(definition)
        .chain_update(entrants.to_le_bytes())
        .chain_update(root.map(Root::commitment).unwrap_or_default())
        .finalize();
    format!(
        "{} {VERSION}.{} {}",
        env!("CARGO_PKG_VERSION"),
        schedule::STATE_VERSION,
        hex::encode(over)
    )
}

impl DistinctGames {
    fn add(&mut self, course: Course, is_new: bool) {
        self.of_all += u64::from(is_new);
        self.with_moves += u64::from(course.has_moves);
        self.of_those_with_moves += u64::from(is_new && course.has_moves);
    }
}

/// Counts of groups, for each of up to [`PARTS`] equally long ranges of their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartCounts {
    /// The length of a range, a power of two.
    length: NonZeroU64,
    parts: BTreeMap<u64, GroupCounts>,
}

impl Default for PartCounts {
    fn default() -> Self {
        Self {
            length: NonZeroU64::MIN,
            parts: BTreeMap::new(),
        }
    }
}

impl PartCounts {
    fn add(&mut self, number: u64, count: GroupCount) {
        while number / self.length >= PARTS {
            self.length = self.length.saturating_add(self.length.get());
            let mut halves = std::mem::take(&mut self.parts);
            while let Some((half, counts)) = halves.pop_first() {
                self.parts
                    .entry(half / 2)
                    .or_default()
                    .extend(counts.iter());
            }
        }
        self.parts
            .entry(number / self.length)
            .or_default()
            .add(count);
    }

    /// Takes groups away that were added before.
    pub(crate) fn subtract(&mut self, groups: &[CompleteGroup]) {
        for group in groups {
            if let Some(part) = self.parts.get_mut(&(group.mark.group / self.length)) {
                part.subtract(group.count());
            }
        }
    }

    /// The counts of the parts, in order of the numbers of their groups.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &GroupCounts> {
        self.parts.values()
    }

    /// The counts of all parts together.
    pub(crate) fn all(&self) -> Vec<GroupCount> {
        let all: GroupCounts = self.iter().flat_map(GroupCounts::iter).collect();
        all.iter().collect()
    }
}

/// Different courses. They are kept in parts of which none is more than half as long as the one before, so that each
/// is written again a few times only, however many follow.
#[derive(Debug, Default)]
struct Courses {
    /// Those that are kept were read, if there are any.
    is_read: bool,
    /// Each in ascending order.
    parts: Vec<Vec<u64>>,
    /// Number of parts, from the first on, that are as they are kept.
    same: usize,
    /// Those that are in no part.
    new: HashSet<u64>,
}

impl Courses {
    fn kept(parts: Vec<Vec<u64>>) -> Self {
        Self {
            is_read: true,
            same: parts.len(),
            parts,
            new: HashSet::new(),
        }
    }

    fn has(&self, course: u64) -> bool {
        self.new.contains(&course)
            || (self.parts.iter()).any(|part| part.binary_search(&course).is_ok())
    }

    /// Adds one; false if it is there.
    fn add(&mut self, course: u64) -> bool {
        !self.has(course) && self.new.insert(course)
    }

    /// Makes a part of those that are in none, and says how many parts are as they were kept.
    fn seal(&mut self) -> usize {
        let mut part: Vec<u64> = std::mem::take(&mut self.new).into_iter().collect();
        part.sort_unstable();
        while let Some(last) = self.parts.pop_if(|last| last.len() < 2 * part.len()) {
            part.extend(last);
            // Two runs that are in order: as fast as merging them.
            part.sort();
        }
        self.same = self.same.min(self.parts.len());
        if !part.is_empty() {
            self.parts.push(part);
        }
        self.same
    }
}

/// The length of the look ahead: how far a schedule is asked for what lies beyond all that
/// has been played. A match that a test may stop can have millions of deals.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LookAhead {
    last: Option<u64>,
    beyond: u32,
}

impl LookAhead {
    const MOST: u32 = 100_000;

    /// A group with this number has been played.
    pub(crate) fn see(&mut self, number: u64) {
        if self.last.is_none_or(|last| number > last) {
            self.last = Some(number);
            self.beyond = 0;
        }
    }

    /// True if what comes may still be of use after this group.
    pub(crate) fn is_near(&mut self, number: u64) -> bool {
        self.beyond += u32::from(self.last.is_none_or(|last| number > last));
        self.beyond < Self::MOST
    }
}

#[cfg(test)]
mod tests;
