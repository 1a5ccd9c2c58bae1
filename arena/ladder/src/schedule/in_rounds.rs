//! Schedules in rounds, each of which is paired when the round before is over: Swiss and
//! ladder. An entrant that fails too many deals does not play in the next round; its
//! results stand.
//!
//! A schedule without an end remembers its last rounds only.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::listed::joined;
use super::match_up::{MatchRules, MatchUp, Walkover, unplayed};
use super::set_aside::{self, FailedDeals};
use super::tables::sizes;
use super::{
    KEPT_ROUNDS, Match, MatchStage, NotScheduled, Participant, Ranked, Remark, Round, Schedule,
    SetAside, SetAsideReason, state,
};
use crate::{Entrant, Field, Group, GroupScore, Lineup, MatchId};

/// The rules by which rounds are paired and their results are counted.
pub(super) trait RoundPairing: Send {
    /// Pairs the round with this number, from 0. The entrants are in order of their
    /// numbers.
    fn pair(&mut self, round: u32, entrants: &[Entrant]) -> Paired;

    /// Adds a group that counts. The groups of an entrant come in order.
    fn count(&mut self, lineup: &Lineup, score: &GroupScore);

    /// Adds a match that is over; `aside` are its entrants that have been set aside.
    fn decide(&mut self, match_up: &MatchUp, aside: &[Entrant]);

    /// As in [`Schedule`].
    fn ranking(&self) -> Option<Vec<Ranked>>;
}

/// The pairing of a round: who plays whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Paired {
    pub(super) tables: Vec<Lineup>,
    pub(super) bye: Option<Entrant>,
    pub(super) remarks: Vec<Remark>,
}

/// A schedule in rounds.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct InRounds<P> {
    rules: MatchRules,
    pairing: P,
    /// The number of rounds; None for no end.
    end: Option<u32>,
    /// Number of match numbers that are reserved for a round, with one for a bye.
    per_round: u32,
    /// Number of rounds, from the first on, that are forgotten.
    forgotten: usize,
    /// Number of groups of the forgotten rounds that count.
    forgotten_groups: u64,
    /// The groups of the forgotten rounds that do not count.
    uncounted: Vec<Range<u64>>,
    /// The rounds after the forgotten ones.
    rounds: VecDeque<PairedRound>,
    entrants: Vec<RoundsEntrant>,
    over: bool,
    remarks: Vec<Remark>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PairedRound {
    matches: Vec<MatchUp>,
    bye: Option<Entrant>,
    /// The match that names the next group; earlier matches have named all of theirs.
    naming: usize,
    /// Number of matches that are not over.
    open: usize,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct RoundsEntrant {
    failed: FailedDeals,
    aside: Option<SetAsideReason>,
}

impl<P: RoundPairing> InRounds<P> {
    pub(super) fn new(field: &Field, mut rules: MatchRules, end: Option<u32>, pairing: P) -> Self {
        rules.walkover = Some(Walkover {
            set_aside: field.set_aside,
            each: 0,
        });
        let mut schedule = Self {
            pairing,
            end,
            per_round: field.entrants.div_ceil(u32::from(field.seats)),
            forgotten: 0,
            forgotten_groups: 0,
            uncounted: Vec::new(),
            rounds: VecDeque::new(),
            entrants: vec![RoundsEntrant::default(); field.entrants as usize],
            over: false,
            remarks: Vec::new(),
            rules,
        };
        schedule.open_round();
        schedule
    }

    fn active(&self) -> Vec<Entrant> {
        (Entrant::all(self.entrants.len() as u32))
            .filter(|one| self.entrants[one.index()].aside.is_none())
            .collect()
    }

    /// The number of a match; None if it would be above 2^32 - 1.
    fn id(&self, round: usize, at: usize) -> Option<u32> {
        let first = u32::try_from(round).ok()?.checked_mul(self.per_round)?;
        first.checked_add(u32::try_from(at).ok()?)
    }

    /// Number of rounds that have been paired.
    fn begun(&self) -> usize {
        self.forgotten + self.rounds.len()
    }

    fn open_round(&mut self) {
        let round = self.begun() as u32;
        let active = self.active();
        let last = self.id(self.begun(), self.per_round as usize);
        if self.end.is_some_and(|end| round >= end) || active.len() < 2 || last.is_none() {
            self.over = true;
            return;
        }
        if let Some(walkover) = &mut self.rules.walkover {
            let rounds = u64::from(self.end.unwrap_or(round + 1));
            walkover.each = rounds * self.rules.deals;
        }
        let paired = self.pairing.pair(round, &active);
        let failed = |one: &Option<Entrant>| {
            one.map_or(FailedDeals::default(), |one| {
                self.entrants[one.index()].failed
            })
        };
        let matches: Vec<MatchUp> = (paired.tables.iter())
            .map(|lineup| {
                MatchUp::new(round as usize, lineup.iter().map(|one| (*one, failed(one))))
            })
            .collect();
        self.remarks.extend(paired.remarks);
        self.rounds.push_back(PairedRound {
            open: matches.len(),
            matches,
            bye: paired.bye,
            naming: 0,
        });
    }

    /// Forgets the first round if there are too many, except which of its groups do not
    /// count.
    fn forget(&mut self) {
        if self.end.is_none() && self.rounds.len() > KEPT_ROUNDS {
            let first = self.uncounted_in(self.forgotten, &self.rounds[0]);
            self.uncounted = joined(std::mem::take(&mut self.uncounted).into_iter().chain(first));
            let counted = self.rounds[0].matches.iter().map(MatchUp::counted);
            self.forgotten_groups += counted.sum::<u64>();
            self.rounds.pop_front();
            self.forgotten += 1;
        }
    }

    fn uncounted_in(&self, round: usize, played: &PairedRound) -> Vec<Range<u64>> {
        (played.matches.iter().enumerate())
            .filter(|(_, match_up)| match_up.is_over())
            .filter_map(|(at, match_up)| {
                let first = self.rules.first(self.id(round, at)?);
                Some(first + match_up.counted()..first + self.rules.stride())
            })
            .collect()
    }

    /// Evaluates the round that has just ended, in order of its matches.
    fn close_round(&mut self) {
        let Some(round) = self.rounds.back() else {
            return;
        };
        for match_up in &round.matches {
            let mut aside = Vec::new();
            for place in match_up.places() {
                let Some(entrant) = place.entrant else {
                    continue;
                };
                self.entrants[entrant.index()].failed = place.failed;
                if let Some(why) = self
                    .rules
                    .walkover
                    .and_then(|walkover| walkover.lost(place))
                {
                    self.entrants[entrant.index()].aside = Some(why);
                    aside.push(entrant);
                }
            }
            self.pairing.decide(match_up, &aside);
        }
    }

    fn round_seen(&self, at: usize, round: &PairedRound) -> Round {
        let id = |match_up| self.id(at, match_up).unwrap_or(u32::MAX);
        let mut matches: Vec<Match> = (round.matches.iter().enumerate())
            .map(|(i, match_up)| match_up.seen(id(i), &self.rules))
            .collect();
        if let Some(bye) = round.bye {
            let players = vec![Participant::Entrant(bye), Participant::Bye];
            matches.push(unplayed(id(matches.len()), players, 0, true));
        }
        Round {
            name: name(at),
            matches,
        }
    }

    /// A future round, if all active entrants take part.
    fn round_to_come(&self, at: usize, active: usize) -> Round {
        let seats = self.rules.seats;
        let tables = match seats {
            2 => (0..active.div_ceil(2))
                .map(|i| (active - 2 * i).min(2))
                .collect(),
            _ => sizes(active),
        };
        let matches = tables.into_iter().enumerate().map(|(i, here)| {
            let mut players =
                vec![Participant::Pending(format!("paired after {}", name(at - 1))); here];
            let bye = seats == 2 && here == 1;
            let free = if bye {
                Participant::Bye
            } else {
                Participant::Filler
            };
            players.resize(seats, free);
            let most = if bye { 0 } else { self.rules.deals };
            unplayed(self.id(at, i).unwrap_or(u32::MAX), players, most, false)
        });
        Round {
            name: name(at),
            matches: matches.collect(),
        }
    }

    fn to_come(&self) -> Option<Range<usize>> {
        let rounds = self.begun();
        match self.end {
            _ if self.over => Some(rounds..rounds),
            None => None,
            Some(end) => Some(rounds..end as usize),
        }
    }
}

impl<P: RoundPairing + Serialize> Schedule for InRounds<P> {
    fn next(&mut self) -> Option<Group> {
        let first = self.id(self.begun().checked_sub(1)?, 0)?;
        let round = self.rounds.back_mut()?;
        while let Some(match_up) = round.matches.get_mut(round.naming) {
            if let Some(group) = match_up.next(first + round.naming as u32, &self.rules) {
                return Some(group);
            }
            round.naming += 1;
        }
        None
    }

    fn record(&mut self, score: &GroupScore) -> Result<(), NotScheduled> {
        let unknown = NotScheduled(score.number);
        let (id, at) = self.rules.locate(score.number).ok_or(unknown)?;
        let Some(round) = ((id / self.per_round) as usize).checked_sub(self.forgotten) else {
            return Ok(());
        };
        let round = self.rounds.get_mut(round).ok_or(unknown)?;
        let place = (id % self.per_round) as usize;
        let match_up = round.matches.get_mut(place).ok_or(unknown)?;
        let was_over = match_up.is_over();
        for score in match_up.record(at, score, &self.rules).ok_or(unknown)? {
            self.pairing.count(&match_up.lineup(), &score);
        }
        if match_up.is_over() && !was_over {
            round.open -= 1;
            if round.open == 0 {
                self.close_round();
                self.open_round();
                self.forget();
            }
        }
        Ok(())
    }

    fn state(&self) -> String {
        state(self)
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn numbers(&self) -> Range<u32> {
        let number = |round| self.id(round, 0).unwrap_or(u32::MAX);
        number(self.forgotten)..number(self.begun())
    }

    fn stage(&self, id: MatchId) -> MatchStage {
        let round = (id.0 / self.per_round) as usize;
        let Some(kept) = round.checked_sub(self.forgotten) else {
            return MatchStage::Over;
        };
        let Some(kept) = self.rounds.get(kept) else {
            return MatchStage::Pending;
        };
        match kept.matches.get((id.0 % self.per_round) as usize) {
            Some(match_up) => match_up.stage(id.0, &self.rules),
            // A bye, or no match.
            None => MatchStage::Over,
        }
    }

    fn planned(&self) -> Option<u64> {
        let to_come = self.to_come()?.len() as u64;
        let active = self.active().len();
        let tables = match self.rules.seats {
            2 => active / 2,
            seats => active.div_ceil(seats),
        };
        let begun = self.rounds.iter().flat_map(|round| &round.matches);
        let begun: u64 = begun.map(|match_up| match_up.planned(&self.rules)).sum();
        Some(self.forgotten_groups + begun + to_come * tables as u64 * self.rules.deals)
    }

    fn rounds(&self) -> Vec<Round> {
        let active = self.active().len();
        let begun = self.rounds.iter().enumerate();
        let begun = begun.map(|(at, round)| self.round_seen(self.forgotten + at, round));
        let to_come = self.to_come().unwrap_or_default();
        begun
            .chain(to_come.map(|at| self.round_to_come(at, active)))
            .collect()
    }

    fn uncounted(&self) -> Vec<Range<u64>> {
        let rounds = self.rounds.iter().enumerate();
        let rounds = rounds.flat_map(|(at, round)| self.uncounted_in(self.forgotten + at, round));
        let all = self.uncounted.iter().cloned().chain(rounds);
        joined(all)
    }

    fn open(&self) -> Vec<Range<u64>> {
        let rounds = (self.forgotten..).zip(&self.rounds);
        let matches = rounds.flat_map(|(round, paired)| {
            let matches = paired.matches.iter().enumerate();
            matches.filter_map(move |(at, match_up)| {
                Some(match_up.open(self.id(round, at)?, &self.rules))
            })
        });
        joined(matches)
    }

    fn set_aside(&self) -> Vec<SetAside> {
        set_aside::list(self.entrants.iter().map(|standing| standing.aside), false)
    }

    fn ranking(&self) -> Option<Vec<Ranked>> {
        self.pairing.ranking()
    }

    fn remarks(&self) -> Vec<Remark> {
        self.remarks.clone()
    }
}

/// The name of a round.
pub(super) fn name(round: usize) -> String {
    format!("round {}", round + 1)
}
