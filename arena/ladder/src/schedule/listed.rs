//! Schedules whose matches are all known at the start: round robin, gauntlet. Matches are
//! played in the order of the list, each with all its deals in a row, so that the bots'
//! processes can be used again.
//!
//! An entrant that fails too many deals is annulled: none of its games count. Failed
//! deals are counted in the order of the list, up to the first group without a score, so
//! that they do not depend on which group ends first.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::match_up::{MatchRules, MatchUp, players, unplayed};
use super::set_aside::{self, FailedDeals};
use super::{
    Match, MatchStage, NotScheduled, Ranked, Remark, Round, Schedule, SetAside, SetAsideReason,
    SetAsideRule, state,
};
use crate::{Entrant, Field, Group, GroupScore, Lineup, MatchId};

/// The rounds, each with the lineups of its matches.
pub(super) type Rounds = Vec<Vec<Lineup>>;

/// The state of a schedule that is a list.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Listed {
    rules: MatchRules,
    set_aside: SetAsideRule,
    /// The lineups of all matches; the index is the match's number.
    lineups: Vec<Lineup>,
    /// Number of matches of each round.
    rounds: Vec<usize>,
    /// The matches that have been started: the first ones of the list.
    begun: Vec<MatchUp>,
    /// All matches before this one are over.
    frontier: usize,
    /// For each match the failed deals that have not been judged.
    failures: BTreeMap<usize, VecDeque<FailedDeal>>,
    entrants: Vec<ListedEntrant>,
}

/// A deal that an entrant has failed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FailedDeal {
    entrant: Entrant,
    failed: FailedDeals,
}

/// The state of an entrant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ListedEntrant {
    failed: FailedDeals,
    /// Number of deals that are scheduled for it.
    planned: u64,
    aside: Option<SetAsideReason>,
    /// Number of failed deals that are not held against it.
    forgiven: u64,
}

impl Listed {
    pub(super) fn new(field: &Field, rules: MatchRules, rounds: Rounds) -> Self {
        let mut entrants = vec![ListedEntrant::default(); field.entrants as usize];
        for entrant in rounds.iter().flatten().flatten().flatten() {
            entrants[entrant.index()].planned += rules.deals;
        }
        for (entrant, deals) in &field.readmitted {
            if let Some(listed) = entrants.get_mut(entrant.index()) {
                listed.forgiven = *deals;
            }
        }
        Self {
            rules,
            set_aside: field.set_aside,
            rounds: rounds.iter().map(Vec::len).collect(),
            lineups: rounds.into_iter().flatten().collect(),
            begun: Vec::new(),
            frontier: 0,
            failures: BTreeMap::new(),
            entrants,
        }
    }

    fn annulled(&self, lineup: &[Option<Entrant>]) -> bool {
        (lineup.iter().flatten()).any(|entrant| self.entrants[entrant.index()].aside.is_some())
    }

    fn begin(&mut self, lineup: &[Option<Entrant>]) {
        let fresh = lineup
            .iter()
            .map(|&entrant| (entrant, FailedDeals::default()));
        let mut match_up = MatchUp::new(0, fresh);
        if self.annulled(lineup) {
            match_up.stop();
        }
        self.begun.push(match_up);
    }

    /// Moves the frontier as far as scores are known, and judges the failed deals on the
    /// way.
    fn advance(&mut self) {
        while self.frontier < self.lineups.len() {
            if self.frontier == self.begun.len() {
                let lineup = self.lineups[self.frontier].clone();
                if !self.annulled(&lineup) {
                    return;
                }
                self.begin(&lineup);
            }
            while let Some(failure) = self.passed_failure() {
                self.judge(failure);
            }
            if !self.begun[self.frontier].is_over() {
                return;
            }
            self.failures.remove(&self.frontier);
            self.frontier += 1;
        }
    }

    /// The next failed deal of the match at the frontier, among its counted groups.
    fn passed_failure(&mut self) -> Option<FailedDeal> {
        if self.annulled(&self.lineups[self.frontier]) {
            return None;
        }
        self.failures.get_mut(&self.frontier)?.pop_front()
    }

    fn judge(&mut self, failure: FailedDeal) {
        let listed = &mut self.entrants[failure.entrant.index()];
        if listed.forgiven > 0 {
            listed.forgiven -= 1;
            return;
        }
        listed.failed.add(failure.failed);
        listed.aside = listed.failed.reason(self.set_aside, listed.planned);
        if listed.aside.is_some() {
            for match_up in &mut self.begun {
                if match_up.entrants().any(|one| one == failure.entrant) {
                    match_up.stop();
                }
            }
        }
    }

    fn seen(&self, id: usize) -> Match {
        let lineup = &self.lineups[id];
        let number = id as u32;
        match self.begun.get(id) {
            Some(match_up) if !self.annulled(lineup) => match_up.seen(number, &self.rules),
            _ => {
                let over = self.annulled(lineup);
                unplayed(number, players(lineup), self.rules.deals, over)
            }
        }
    }
}

impl Schedule for Listed {
    fn next(&mut self) -> Option<Group> {
        loop {
            let last = self.begun.len().wrapping_sub(1);
            if let Some(match_up) = self.begun.get_mut(last)
                && let Some(group) = match_up.next(last as u32, &self.rules)
            {
                return Some(group);
            }
            let lineup = self.lineups.get(self.begun.len())?.clone();
            self.begin(&lineup);
        }
    }

    fn record(&mut self, score: &GroupScore) -> Result<(), NotScheduled> {
        let unknown = NotScheduled(score.number);
        let (id, at) = self.rules.locate(score.number).ok_or(unknown)?;
        let id = id as usize;
        let match_up = self.begun.get_mut(id).ok_or(unknown)?;
        for counted in match_up.record(at, score, &self.rules).ok_or(unknown)? {
            for (place, faults) in match_up.places().iter().zip(&counted.faults) {
                let failed = FailedDeals::of(faults, counted.games);
                if let Some(entrant) = place.entrant.filter(|_| failed.any()) {
                    let failure = FailedDeal { entrant, failed };
                    self.failures.entry(id).or_default().push_back(failure);
                }
            }
        }
        if id == self.frontier {
            self.advance();
        }
        Ok(())
    }

    fn state(&self) -> String {
        state(self)
    }

    fn is_over(&self) -> bool {
        self.frontier == self.lineups.len()
    }

    fn numbers(&self) -> Range<u32> {
        0..self.lineups.len() as u32
    }

    fn stage(&self, id: MatchId) -> MatchStage {
        let Some(lineup) = self.lineups.get(id.0 as usize) else {
            return MatchStage::Pending;
        };
        match self.begun.get(id.0 as usize) {
            _ if self.annulled(lineup) => MatchStage::Over,
            Some(match_up) => match_up.stage(id.0, &self.rules),
            None => {
                let first = self.rules.first(id.0);
                MatchStage::Open {
                    lineup: lineup.clone(),
                    groups: first..first + self.rules.deals,
                    left: self.rules.deals,
                }
            }
        }
    }

    fn planned(&self) -> Option<u64> {
        let planned = |(id, lineup): (usize, &Lineup)| match self.begun.get(id) {
            _ if self.annulled(lineup) => 0,
            Some(match_up) => match_up.planned(&self.rules),
            None => self.rules.deals,
        };
        Some(self.lineups.iter().enumerate().map(planned).sum())
    }

    fn rounds(&self) -> Vec<Round> {
        let mut ids = 0..self.lineups.len();
        (self.rounds.iter().enumerate())
            .map(|(round, &matches)| Round {
                name: format!("round {}", round + 1),
                matches: (ids.by_ref().take(matches).map(|id| self.seen(id))).collect(),
            })
            .collect()
    }

    fn uncounted(&self) -> Vec<Range<u64>> {
        let all = self.lineups.iter().enumerate().map(|(id, lineup)| {
            let first = self.rules.first(id as u32);
            let counted = match self.begun.get(id) {
                _ if self.annulled(lineup) => 0,
                Some(match_up) if match_up.is_over() => match_up.counted(),
                _ => self.rules.stride(),
            };
            first + counted..first + self.rules.stride()
        });
        joined(all)
    }

    fn open(&self) -> Vec<Range<u64>> {
        let all = self.lineups.iter().enumerate().map(|(id, lineup)| {
            let first = self.rules.first(id as u32);
            match self.begun.get(id) {
                _ if self.annulled(lineup) => first..first,
                Some(match_up) => match_up.open(id as u32, &self.rules),
                None => first..first + self.rules.stride(),
            }
        });
        joined(all)
    }

    fn set_aside(&self) -> Vec<SetAside> {
        set_aside::list(self.entrants.iter().map(|listed| listed.aside), true)
    }

    fn ranking(&self) -> Option<Vec<Ranked>> {
        None
    }

    fn remarks(&self) -> Vec<Remark> {
        Vec::new()
    }
}

/// The ranges without the empty ones, with adjacent ranges joined.
pub(super) fn joined(ranges: impl IntoIterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}
