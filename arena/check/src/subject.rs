//! A game that the bot plays, and what is known of it so far.

use std::{collections::BTreeMap, time::Duration};

use arena_events::check::{FindingName, ReadyAnswer};
use referee::Closed;
use referee_core::{Foul, GameKind, Seat};

use crate::{
    evidence::{Circumstance, Evidence, ObservedFoul},
    finding::Finding,
    game::{GameSeen, GameSetting},
};

/// A game of the bot's, and what is known of it so far.
pub(crate) struct Subject {
    pub(crate) kind: &'static dyn GameKind,
    pub(crate) ready: ReadyAnswer,
    /// Time that each answer took in whole games.
    pub(crate) thoughts: Vec<Duration>,
    /// The same without what it waited for a core.
    pub(crate) own_thoughts: Vec<Duration>,
    /// Number of times that each call was sent.
    pub(crate) calls: BTreeMap<String, u64>,
    /// Number of its streams that it ended in time.
    pub(crate) closed: u32,
    /// Number of its streams that it did not end in time.
    pub(crate) open: u32,
    /// The game that it was sent the start of first.
    pub(crate) first: GameSetting,
    /// Its first foul after a game was over.
    after_game_over: Option<Foul>,
    is_after_game_over_reported: bool,
    /// It can't play several games at once, whatever it says.
    pub(crate) one_at_a_time: bool,
}

impl Subject {
    pub(crate) const fn new(
        kind: &'static dyn GameKind,
        ready: ReadyAnswer,
        first: GameSetting,
    ) -> Self {
        Self {
            kind,
            ready,
            thoughts: Vec::new(),
            own_thoughts: Vec::new(),
            calls: BTreeMap::new(),
            closed: 0,
            open: 0,
            first,
            after_game_over: None,
            is_after_game_over_reported: false,
            one_at_a_time: false,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.kind.info().name
    }

    pub(crate) fn seats(&self) -> impl ExactSizeIterator<Item = Seat> + Clone + use<> {
        Seat::all(self.kind.info().seats)
    }

    /// Number of games that a process plays at once, as it says.
    pub(crate) fn max_games(&self) -> usize {
        match self.ready.max_games {
            Some(games) if games > 0 && !self.one_at_a_time => games as usize,
            _ => 1,
        }
    }

    /// Takes over what a game has shown.
    pub(crate) fn learn(&mut self, seen: &GameSeen) {
        for (call, times) in &seen.calls {
            *self.calls.entry(call.clone()).or_default() += times;
        }
        match &seen.closed {
            Some(Closed::InOrder) => self.closed += 1,
            Some(Closed::Wrongly(foul)) => {
                self.closed += 1;
                self.after_game_over.get_or_insert_with(|| foul.clone());
            }
            Some(Closed::Not) => self.open += 1,
            None => {}
        }
    }

    /// Its foul after a game was over, the first time that this is called.
    pub(crate) fn after_game_over(&mut self) -> Option<Finding> {
        if self.is_after_game_over_reported {
            return None;
        }
        let foul = self.after_game_over.clone()?;
        self.is_after_game_over_reported = true;
        Some(self.finding(FindingName::AfterGameOver, foul))
    }

    /// True if nobody waits any longer for streams that it does not end: after the second one.
    pub(crate) const fn is_hasty(&self) -> bool {
        self.open > 2
    }

    /// A finding in this game without a record.
    pub(crate) fn finding(&self, name: FindingName, evidence: impl Into<Evidence>) -> Finding {
        finding(name, Some(self.kind), evidence)
    }
}

/// A finding without a record.
pub(crate) fn finding(
    name: FindingName,
    kind: Option<&'static dyn GameKind>,
    evidence: impl Into<Evidence>,
) -> Finding {
    Finding {
        name,
        games: kind.map(|kind| kind.info().name).into_iter().collect(),
        evidence: evidence.into(),
        record: None,
        position: None,
        last_output: Vec::new(),
        may_keep_globals: false,
    }
}

/// A foul of a game that was seen, with its question.
pub(crate) fn observed(foul: Foul, seen: &GameSeen, circumstance: Circumstance) -> Evidence {
    Evidence::Foul(ObservedFoul {
        foul,
        question: seen.question.clone(),
        circumstance,
    })
}
