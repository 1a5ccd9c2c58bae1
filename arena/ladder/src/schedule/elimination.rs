//! Elimination: an entrant is out after one lost match (single) or two (double).
//!
//! A match of two is a best of its deals. If the points are level after all deals, deals
//! are added one at a time until one is won, at most as many again; then the margins
//! decide, then the seeding. A table of four plays all its deals; its order is by points,
//! then margins, then the seeding.
//!
//! An entrant that fails too many deals loses its current match and is set aside; its
//! next opponent advances without a game.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::bracket::{Bracket, BracketSource};
use super::listed::joined;
use super::match_up::{MatchPlace, MatchRules, MatchUp, Walkover, unplayed};
use super::set_aside::{self, FailedDeals};
use super::{
    Decider, Match, MatchStage, NotScheduled, Participant, Ranked, Remark, Round, Schedule,
    SetAside, SetAsideReason, state,
};
use crate::{Entrant, Field, Group, GroupScore, MatchId};

/// The state of an elimination.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Elimination {
    rules: MatchRules,
    walkover: Walkover,
    bracket: Bracket,
    /// For each match the matches that need its result.
    feeds: Vec<Vec<usize>>,
    states: Vec<BracketMatch>,
    /// Matches that may be able to name a group.
    ready: BTreeSet<usize>,
    entrants: Vec<BracketEntrant>,
}

/// The state of a match of the bracket.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct BracketMatch {
    /// The match; None if it has not been started, or has nothing to play.
    match_up: Option<MatchUp>,
    /// The entrants of this match that are set aside, in order of the sources.
    absent: Vec<Entrant>,
    /// The order if it is over, the best first; None is a place without an entrant.
    order: Option<Vec<Option<Entrant>>>,
    remarks: Vec<Remark>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct BracketEntrant {
    failed: FailedDeals,
    aside: Option<SetAsideReason>,
    /// The round and the place at which it was set aside. There it is out, even if it
    /// would advance because others are set aside too.
    out: Option<(usize, usize)>,
}

/// The player that takes a place of a match, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Entrant(Entrant),
    Nobody,
    NotYet { of: usize, place: usize },
}

impl Elimination {
    pub(super) fn new(field: &Field, mut rules: MatchRules, bracket: Bracket) -> Self {
        let walkover = Walkover {
            set_aside: field.set_aside,
            each: bracket.path * rules.deals,
        };
        rules.walkover = Some(walkover);
        let mut feeds = vec![Vec::new(); bracket.nodes.len()];
        for (at, node) in bracket.nodes.iter().enumerate() {
            for source in &node.sources {
                if let BracketSource::Place { of, .. } = *source
                    && feeds[of].last() != Some(&at)
                {
                    feeds[of].push(at);
                }
            }
        }
        let mut schedule = Self {
            rules,
            walkover,
            states: vec![BracketMatch::default(); bracket.nodes.len()],
            feeds,
            bracket,
            ready: BTreeSet::new(),
            entrants: vec![BracketEntrant::default(); field.entrants as usize],
        };
        for at in 0..schedule.states.len() {
            schedule.begin(at);
        }
        schedule
    }

    /// Starts a match if all its players are known and it has not been started. A match
    /// with nothing to play is over at once.
    fn begin(&mut self, at: usize) {
        if self.states[at].order.is_some() || self.states[at].match_up.is_some() {
            return;
        }
        let counts = self.expected();
        let mut present = Vec::new();
        let mut absent = Vec::new();
        for &source in &self.bracket.nodes[at].sources {
            match self.known(source, &counts) {
                Known::NotYet { .. } => return,
                Known::Nobody => {}
                Known::Entrant(one) if self.is_aside(one) => absent.push(one),
                Known::Entrant(one) => present.push(one),
            }
        }
        self.states[at].absent = absent;
        if self.bracket.reset == Some(at) && !self.won_from_below(at) {
            // The first grand final has decided, and its order stands.
            self.close(at, present);
        } else if present.len() <= self.bracket.nodes[at].go_on {
            present.sort_unstable();
            self.close(at, present);
        } else {
            let mut lineup: Vec<_> = present.into_iter().map(Some).collect();
            lineup.resize(self.rules.seats, None);
            let failed = |one: &Option<Entrant>| {
                one.map_or(FailedDeals::default(), |one| {
                    self.entrants[one.index()].failed
                })
            };
            let lineup = lineup.iter().map(|one| (*one, failed(one)));
            self.states[at].match_up = Some(MatchUp::new(self.bracket.nodes[at].round, lineup));
            self.ready.insert(at);
        }
    }

    /// Ends a match with this order, and starts the matches that needed it.
    fn close(&mut self, at: usize, order: Vec<Entrant>) {
        let state = &mut self.states[at];
        let absent = state.absent.iter().copied();
        let mut order: Vec<_> = order.into_iter().chain(absent).map(Some).collect();
        order.resize(self.rules.seats, None);
        state.order = Some(order);
        for fed in self.feeds[at].clone() {
            self.begin(fed);
        }
    }

    /// True if the winner of the losers' bracket won the grand final before this match.
    fn won_from_below(&self, reset: usize) -> bool {
        let grand_final = &self.states[reset - 1];
        let won = grand_final.order.as_ref().and_then(|order| order[0]);
        let played = grand_final.match_up.as_ref();
        played.is_some_and(|played| played.places()[1].entrant == won)
    }

    /// Evaluates a match that has just been decided.
    fn decide(&mut self, at: usize) {
        let Some(match_up) = &self.states[at].match_up else {
            return;
        };
        let mut places: Vec<MatchPlace> = match_up.places().to_vec();
        places.retain(|place| place.entrant.is_some());
        let lost = |place: &MatchPlace| self.walkover.lost(place);
        places.sort_by_key(|place| {
            let failed = lost(place).is_some();
            (
                failed,
                Reverse(place.points),
                Reverse(place.margin),
                place.entrant,
            )
        });
        let node = &self.bracket.nodes[at];
        let reset = self.bracket.reset;
        // The places in the last match are the final ones.
        let last = self.feeds[at].iter().all(|&fed| Some(fed) == reset);
        let mut remarks = Vec::new();
        for (cut, pair) in (1..).zip(places.windows(2)) {
            if let [ahead, behind] = pair
                && (last || cut == node.go_on)
                && lost(ahead).is_none()
                && lost(behind).is_none()
                && ahead.points == behind.points
                && let (Some(one), Some(other)) = (ahead.entrant, behind.entrant)
            {
                remarks.push(Remark::Tie {
                    round: self.bracket.rounds[node.round].clone(),
                    ahead: one,
                    behind: other,
                    decided_by: if ahead.margin > behind.margin {
                        Decider::Margins
                    } else {
                        Decider::Seeding
                    },
                });
            }
        }
        for (place, found) in places.iter().enumerate() {
            let why = self.walkover.lost(found);
            let place = if last { place } else { place.max(node.go_on) };
            if let Some(one) = found.entrant {
                self.entrants[one.index()] = BracketEntrant {
                    failed: found.failed,
                    out: why.is_some().then_some((node.round, place)),
                    aside: why,
                };
            }
        }
        self.states[at].remarks = remarks;
        let order = places.iter().filter_map(|place| place.entrant).collect();
        self.close(at, order);
    }

    fn is_aside(&self, one: Entrant) -> bool {
        self.entrants[one.index()].aside.is_some()
    }

    fn known(&self, source: BracketSource, expected: &[usize]) -> Known {
        match source {
            BracketSource::Seed(seed) if seed < self.entrants.len() => {
                Known::Entrant(Entrant::new(seed as u32))
            }
            BracketSource::Seed(_) => Known::Nobody,
            BracketSource::Place { of, place } => match &self.states[of].order {
                Some(order) => order[place].map_or(Known::Nobody, Known::Entrant),
                None if place >= expected[of] => Known::Nobody,
                None => Known::NotYet { of, place },
            },
        }
    }

    /// Number of players that each match has, or will have.
    fn expected(&self) -> Vec<usize> {
        let mut expected = Vec::with_capacity(self.states.len());
        for node in &self.bracket.nodes {
            let known = node
                .sources
                .iter()
                .map(|&source| self.known(source, &expected));
            expected.push(known.filter(|known| *known != Known::Nobody).count());
        }
        expected
    }

    /// Most deals that a match that has not been started will have.
    fn most(&self, at: usize, expected: &[usize]) -> u64 {
        if self.states[at].order.is_none() && expected[at] > self.bracket.nodes[at].go_on {
            self.rules.deals
        } else {
            0
        }
    }

    fn seen(&self, at: usize, expected: &[usize]) -> Match {
        let state = &self.states[at];
        if let Some(match_up) = &state.match_up {
            return match_up.seen(at as u32, &self.rules);
        }
        let two = self.rules.seats == 2;
        let sources = &self.bracket.nodes[at].sources;
        let player = |&source: &BracketSource| match self.known(source, expected) {
            Known::Entrant(one) => Participant::Entrant(one),
            Known::Nobody if two => Participant::Bye,
            Known::Nobody => Participant::Filler,
            Known::NotYet { of, place } => Participant::Pending(match (two, place) {
                (true, 0) => format!("winner of match {of}"),
                (true, _) => format!("loser of match {of}"),
                _ => format!("place {} of match {of}", place + 1),
            }),
        };
        let players = sources.iter().map(player).collect();
        unplayed(
            at as u32,
            players,
            self.most(at, expected),
            state.order.is_some(),
        )
    }

    /// The round and the place at which each entrant left the bracket; None if it has
    /// not.
    fn out(&self) -> Vec<Option<(usize, usize)>> {
        let mut goes_on = BTreeSet::new();
        for source in self.bracket.nodes.iter().flat_map(|node| &node.sources) {
            if let BracketSource::Place { of, place } = *source {
                goes_on.insert((of, place));
            }
        }
        let mut out = vec![None; self.entrants.len()];
        for (at, state) in self.states.iter().enumerate() {
            for (place, one) in state.order.iter().flatten().enumerate() {
                if let Some(one) = one.filter(|_| !goes_on.contains(&(at, place))) {
                    out[one.index()] = Some((self.bracket.nodes[at].round, place));
                }
            }
        }
        for (out, standing) in out.iter_mut().zip(&self.entrants) {
            *out = standing.out.or(*out);
        }
        out
    }

    /// Number of matches that each entrant has won, or at tables of four advanced from.
    fn won(&self) -> Vec<u32> {
        let mut won = vec![0; self.entrants.len()];
        for (state, node) in self.states.iter().zip(&self.bracket.nodes) {
            if let (Some(order), Some(_)) = (&state.order, &state.match_up) {
                for one in order.iter().take(node.go_on).flatten() {
                    won[one.index()] += 1;
                }
            }
        }
        won
    }
}

impl Schedule for Elimination {
    fn next(&mut self) -> Option<Group> {
        while let Some(&at) = self.ready.first() {
            if let Some(match_up) = &mut self.states[at].match_up
                && let Some(group) = match_up.next(at as u32, &self.rules)
            {
                return Some(group);
            }
            self.ready.remove(&at);
        }
        None
    }

    fn record(&mut self, score: &GroupScore) -> Result<(), NotScheduled> {
        let unknown = NotScheduled(score.number);
        let (id, place) = self.rules.locate(score.number).ok_or(unknown)?;
        let at = id as usize;
        let state = self.states.get_mut(at).ok_or(unknown)?;
        let match_up = state.match_up.as_mut().ok_or(unknown)?;
        match_up.record(place, score, &self.rules).ok_or(unknown)?;
        if match_up.may_go_on(&self.rules) {
            self.ready.insert(at);
        }
        if match_up.is_over() && state.order.is_none() {
            self.decide(at);
        }
        Ok(())
    }

    fn state(&self) -> String {
        state(self)
    }

    fn is_over(&self) -> bool {
        self.states.iter().all(|state| state.order.is_some())
    }

    fn numbers(&self) -> Range<u32> {
        0..self.states.len() as u32
    }

    fn stage(&self, id: MatchId) -> MatchStage {
        match self.states.get(id.0 as usize) {
            Some(state) if state.order.is_some() => MatchStage::Over,
            Some(BracketMatch {
                match_up: Some(match_up),
                ..
            }) => match_up.stage(id.0, &self.rules),
            _ => MatchStage::Pending,
        }
    }

    fn planned(&self) -> Option<u64> {
        let expected = self.expected();
        let planned = |(at, state): (usize, &BracketMatch)| match &state.match_up {
            Some(match_up) => match_up.planned(&self.rules),
            None => self.most(at, &expected),
        };
        Some(self.states.iter().enumerate().map(planned).sum())
    }

    fn rounds(&self) -> Vec<Round> {
        let expected = self.expected();
        let mut rounds: Vec<Round> = (self.bracket.rounds.iter())
            .map(|name| Round {
                name: name.clone(),
                matches: Vec::new(),
            })
            .collect();
        for (at, node) in self.bracket.nodes.iter().enumerate() {
            rounds[node.round].matches.push(self.seen(at, &expected));
        }
        rounds
    }

    fn uncounted(&self) -> Vec<Range<u64>> {
        let over = self.states.iter().enumerate().filter_map(|(at, state)| {
            let match_up = state
                .match_up
                .as_ref()
                .filter(|match_up| match_up.is_over())?;
            let first = self.rules.first(at as u32);
            Some(first + match_up.counted()..first + self.rules.stride())
        });
        joined(over)
    }

    fn open(&self) -> Vec<Range<u64>> {
        let matches = (0..).zip(&self.states);
        joined(matches.filter_map(|(at, state)| {
            let match_up = state.match_up.as_ref()?;
            Some(match_up.open(at, &self.rules))
        }))
    }

    fn set_aside(&self) -> Vec<SetAside> {
        set_aside::list(self.entrants.iter().map(|standing| standing.aside), false)
    }

    fn ranking(&self) -> Option<Vec<Ranked>> {
        let (out, won) = (self.out(), self.won());
        // Entrants that are not out come first, then those of later rounds.
        let key = |one: Entrant| match out[one.index()] {
            None => (Reverse(usize::MAX), 0),
            Some((round, place)) => (Reverse(round), place),
        };
        let mut order: Vec<Entrant> = Entrant::all(self.entrants.len() as u32).collect();
        order.sort_by_key(|&one| (key(one), one));
        let mut place = 0;
        let ranked = order.iter().enumerate().map(|(at, &entrant)| {
            if at == 0 || key(order[at - 1]) != key(entrant) {
                place = at as u32 + 1;
            }
            Ranked {
                place,
                entrant,
                points: f64::from(won[entrant.index()]),
                ties: Vec::new(),
            }
        });
        Some(ranked.collect())
    }

    fn remarks(&self) -> Vec<Remark> {
        (self.states.iter())
            .flat_map(|state| state.remarks.clone())
            .collect()
    }
}
