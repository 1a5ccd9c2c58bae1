//! The state of one match: which of its groups have been named, and the sums over those
//! that count. Scores may come in any order. They are counted in order of the groups'
//! indices in the match, so decisions do not depend on which group ends first.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::set_aside::FailedDeals;
use super::{Match, MatchStage, Participant, SetAsideReason, SetAsideRule};
use crate::{Entrant, Field, Group, GroupScore, HalfPoints, Lineup, MatchId, Sprt};

/// The rules that all matches of a schedule have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MatchRules {
    /// Number of seats of the game.
    pub(super) seats: usize,
    /// Number of games of a group.
    pub(super) games: u32,
    /// Number of groups of a match.
    pub(super) deals: u64,
    /// The rule that ends a match.
    pub(super) length: Length,
    /// Ends a match of two when one of them has failed too many deals; None if the
    /// schedule decides that itself.
    pub(super) walkover: Option<Walkover>,
}

/// The rule by which an entrant loses its current match because of failed deals.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Walkover {
    pub(super) set_aside: SetAsideRule,
    /// Number of deals that an entrant has in the whole schedule.
    pub(super) each: u64,
}

/// The rule that ends a match.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Length {
    /// After all its deals.
    Full,
    /// As soon as the test decides, at the latest after all its deals.
    Test(Sprt),
    /// As soon as the remaining deals can't change who has more points. After a tie, deals are
    /// added one at a time until one of them is won, at most as many again. If a deal is one game,
    /// a block is added in which each sits in each seat.
    BestOf,
}

impl MatchRules {
    pub(super) fn new(field: &Field, length: Length) -> Self {
        let seats = usize::from(field.seats);
        Self {
            seats,
            games: field.seatings.games(seats) as u32,
            deals: field.deals,
            length,
            walkover: None,
        }
    }

    /// Number of group numbers that are reserved for each match: match `m` has those from `m *
    /// stride` on. So a group's number depends only on its position.
    pub(super) fn stride(&self) -> u64 {
        match self.length {
            Length::Full | Length::Test(_) => self.deals,
            Length::BestOf => self.deals + self.deals.next_multiple_of(self.block()),
        }
    }

    /// The number of deals after which each of two has sat in each seat.
    fn block(&self) -> u64 {
        (self.seats as u64 / u64::from(self.games)).max(1)
    }

    /// Up to which deal a best-of match continues if it is level after `counted` deals.
    fn goal(&self, counted: u64) -> u64 {
        match counted.checked_sub(self.deals) {
            None => self.deals,
            Some(extra) => self.deals + extra.next_multiple_of(self.block()),
        }
    }

    /// The number of a match's first group.
    pub(super) fn first(&self, id: u32) -> u64 {
        u64::from(id) * self.stride()
    }

    /// The match of a group's number, and the index in the match.
    pub(super) fn locate(&self, number: u64) -> Option<(u32, u64)> {
        let id = u32::try_from(number / self.stride()).ok()?;
        Some((id, number % self.stride()))
    }

    /// The half points for winning every game of a match.
    pub(super) fn whole_match(&self) -> u64 {
        self.deals * u64::from(self.games) * 2 * (self.seats as u64 - 1)
    }
}

/// A match with known players.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MatchUp {
    places: Vec<MatchPlace>,
    /// The [`turn`](Group::turn) of its first group.
    turn: u64,
    /// Number of groups that have been named.
    named: u64,
    /// Number of groups, from the first on, that have been counted.
    counted: u64,
    over: bool,
    /// In how many groups the first of two won 0, 1, 2, 3 or 4 half points. In groups of a
    /// single game the first three are lost, drawn, won.
    outcomes: [u64; 5],
    /// Scores that wait for the score of an earlier group.
    ahead: BTreeMap<u64, GroupScore>,
}

/// A place of the lineup, with its sums so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MatchPlace {
    pub(super) entrant: Option<Entrant>,
    pub(super) points: HalfPoints,
    pub(super) margin: i64,
    pub(super) failed: FailedDeals,
}

impl MatchUp {
    /// A match in this round between these, with the deals that each has failed before.
    ///
    /// Who sits first depends on the sum of the round and the entrants' numbers: of two,
    /// the one with the lower number if it is even. So everybody sits first in about half
    /// of its matches, and the order changes if two meet again in the next round.
    pub(super) fn new(
        round: usize,
        lineup: impl IntoIterator<Item = (Option<Entrant>, FailedDeals)>,
    ) -> Self {
        let place = |(entrant, failed)| MatchPlace {
            entrant,
            points: HalfPoints(0),
            margin: 0,
            failed,
        };
        let places: Vec<MatchPlace> = lineup.into_iter().map(place).collect();
        let numbers = places.iter().filter_map(|place| place.entrant);
        let sum: usize = numbers.map(Entrant::index).sum();
        Self {
            turn: (round + sum) as u64,
            places,
            named: 0,
            counted: 0,
            over: false,
            outcomes: [0; 5],
            ahead: BTreeMap::new(),
        }
    }

    pub(super) fn places(&self) -> &[MatchPlace] {
        &self.places
    }

    pub(super) fn entrants(&self) -> impl Iterator<Item = Entrant> {
        self.places.iter().filter_map(|place| place.entrant)
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn counted(&self) -> u64 {
        self.counted
    }

    /// Number of groups that it will have at the end, as far as is known now.
    pub(super) fn planned(&self, rules: &MatchRules) -> u64 {
        if self.over {
            self.counted
        } else {
            self.most(rules)
        }
    }

    /// Ends it at once.
    pub(super) fn stop(&mut self) {
        self.over = true;
        self.ahead.clear();
    }

    /// Its next group, if one can be played now.
    pub(super) fn next(&mut self, id: u32, rules: &MatchRules) -> Option<Group> {
        if !self.may_go_on(rules) {
            return None;
        }
        let at = self.named;
        self.named += 1;
        Some(Group {
            number: rules.first(id) + at,
            matchup: MatchId(id),
            at,
            turn: self.turn + at,
            lineup: self.lineup(),
        })
    }

    pub(super) fn may_go_on(&self, rules: &MatchRules) -> bool {
        !self.over && self.named < self.most(rules)
    }

    /// Records a score, and returns the scores that count from now on, in order. None if
    /// the group was not named. A match that is over accepts every group, since an
    /// earlier run of the same schedule may have named more groups before the match was
    /// decided.
    pub(super) fn record(
        &mut self,
        at: u64,
        score: &GroupScore,
        rules: &MatchRules,
    ) -> Option<Vec<GroupScore>> {
        let fits = score.points.len() == self.places.len()
            && score.margins.len() == self.places.len()
            && score.faults.len() == self.places.len();
        if !fits || (at >= self.named && !self.over) {
            return None;
        }
        if at >= self.counted && !self.over {
            self.ahead.entry(at).or_insert_with(|| score.clone());
        }
        let mut counted = Vec::new();
        while let Some(score) = self.ahead.remove(&self.counted) {
            self.count(&score, rules);
            counted.push(score);
            if self.over {
                self.ahead.clear();
            }
        }
        Some(counted)
    }

    fn count(&mut self, score: &GroupScore, rules: &MatchRules) {
        self.counted += 1;
        for (i, place) in self.places.iter_mut().enumerate() {
            place.points.0 = place.points.0.saturating_add(score.points[i].0);
            place.margin = place.margin.saturating_add(score.margins[i]);
            place
                .failed
                .add(FailedDeals::of(&score.faults[i], score.games));
        }
        if let [first, second] = score.points[..] {
            // The points of the first alone would not do: both may have lost.
            let most = 2 * i64::from(rules.games);
            let lead = i64::from(first.0) - i64::from(second.0);
            let outcome = ((lead + most) / 2).clamp(0, 4) as usize;
            self.outcomes[outcome] += 1;
        }
        self.over = self.is_decided(rules);
    }

    fn is_decided(&self, rules: &MatchRules) -> bool {
        if self.walked_over(rules) {
            return true;
        }
        match &rules.length {
            Length::Full => self.counted >= rules.deals,
            Length::Test(sprt) => {
                // A single game has three outcomes.
                let counts = &self.outcomes[..if rules.games == 1 { 3 } else { 5 }];
                self.counted >= rules.deals || sprt.decide(counts).is_some()
            }
            Length::BestOf => {
                let left = rules.goal(self.counted) - self.counted;
                let lead = self.lead().unsigned_abs();
                lead > left * 2 * u64::from(rules.games) || self.counted >= rules.stride()
            }
        }
    }

    fn walked_over(&self, rules: &MatchRules) -> bool {
        let lost = |walkover: Walkover| self.places.iter().any(|one| walkover.lost(one).is_some());
        self.places.len() == 2 && rules.walkover.is_some_and(lost)
    }

    /// By how many half points the first of two is ahead.
    fn lead(&self) -> i64 {
        match &self.places[..] {
            [first, second] => i64::from(first.points.0) - i64::from(second.points.0),
            _ => 0,
        }
    }

    /// Most groups that it has, as far as is known now.
    fn most(&self, rules: &MatchRules) -> u64 {
        match rules.length {
            Length::BestOf if self.counted >= rules.deals => {
                rules.goal(self.counted + 1).min(rules.stride())
            }
            _ => rules.deals,
        }
    }

    pub(super) fn lineup(&self) -> Lineup {
        self.places.iter().map(|place| place.entrant).collect()
    }

    /// The stage of the match: what is to be played of it.
    pub(super) fn stage(&self, id: u32, rules: &MatchRules) -> MatchStage {
        if self.over {
            return MatchStage::Over;
        }
        let (first, most) = (rules.first(id), self.most(rules));
        let scored = self.counted + self.ahead.len() as u64;
        MatchStage::Open {
            lineup: self.lineup(),
            groups: first..first + most,
            left: most.saturating_sub(scored),
        }
    }

    /// The numbers that its groups can have from the first one on that has no score; none if it is over.
    pub(super) fn open(&self, id: u32, rules: &MatchRules) -> Range<u64> {
        let first = rules.first(id);
        let counted = if self.over {
            rules.stride()
        } else {
            self.counted
        };
        first + counted..first + rules.stride()
    }

    /// Its public state.
    pub(super) fn seen(&self, id: u32, rules: &MatchRules) -> Match {
        Match {
            id: MatchId(id),
            players: players(&self.lineup()),
            groups: self.counted,
            most: self.most(rules).max(self.counted),
            points: self.places.iter().map(|place| place.points).collect(),
            over: self.over,
        }
    }
}

impl Walkover {
    /// Reason why the entrant in this place is set aside; None if it is not.
    pub(super) fn lost(self, place: &MatchPlace) -> Option<SetAsideReason> {
        let _ = place.entrant?;
        place.failed.reason(self.set_aside, self.each)
    }
}

/// The participants of a lineup.
pub(super) fn players(lineup: &[Option<Entrant>]) -> Vec<Participant> {
    let player =
        |entrant: &Option<Entrant>| entrant.map_or(Participant::Filler, Participant::Entrant);
    lineup.iter().map(player).collect()
}

/// The state of a match without a game.
pub(super) fn unplayed(id: u32, players: Vec<Participant>, most: u64, over: bool) -> Match {
    Match {
        id: MatchId(id),
        points: vec![HalfPoints(0); players.len()],
        players,
        groups: 0,
        most,
        over,
    }
}
