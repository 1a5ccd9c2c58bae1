//! `ai4`: the engine of the crate of that name, within the time that the referee allows.

use std::{sync::Arc, time::Duration};

use ai4::{
    BigTwoEngine, BigTwoIdea, BigTwoIdeas, CardSet, PlayoutLimit, RoundOptions, ScoringRule,
    SearchSettings, worth::MoveWeights,
};
use bot_kit::{Bot, Thinker, Turn};
use referee_games::big_two::{BigTwo, Cards, Move, Scoring, SeatStanding, View};

use crate::{HouseBot, LEVELS, Parameter, Parameters, PlayedGames, SpecError, clock::BotClock};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "ai4",
    summary: "infers the others' hands and plays out the deals that fit",
    games: PlayedGames::These(&["big_two"]),
    parameters: &[
        Parameter::TIME,
        Parameter {
            name: "playouts",
            standard: "as many as the time allows",
            summary: "a fixed number of rounds played out for a move, instead of a time",
        },
        Parameter::LEVEL,
        Parameter {
            name: "seed",
            standard: "that of the game",
            summary: "what it draws at random",
        },
        Parameter::THREADS,
        Parameter {
            name: "without",
            standard: "none",
            summary: "ideas that it does without, to see what they are worth: belief, styles, \
                      worth, endgame, race, playouts, or several of them with commas",
        },
    ],
    shows: &["ai4?time=10ms"],
    build,
};

/// By level: how many rounds it plays out for a move, and by how many points it misjudges a move at
/// most. Without playouts it goes by the worth at first sight, and no end is solved.
const BY_LEVEL: [(u64, f64); LEVELS] = [
    (0, 8.0),
    (0, 3.0),
    (0, 1.7),
    (0, 1.15),
    (0, 0.78),
    (0, 0.52),
    (0, 0.3),
    (0, 0.1),
    (64, 0.0),
    (2048, 0.0),
];

/// With a time for a move instead of playouts, so many judge the moves of a position.
const VALUE_PLAYOUTS: u64 = 2000;

/// So many passes that have to be thought about are expected in a round, besides a play for each card.
const PASSES: u32 = 4;

/// The time or the playouts that a move may take.
#[derive(Clone, Copy, Debug)]
enum Ai4Budget {
    Time(Duration),
    Playouts(u64),
}

fn build(parameters: &Parameters) -> Result<Bot, SpecError> {
    let options = PlayerOptions::read(parameters)?;
    // Read here, so that no game is charged for it.
    let weights = Arc::new(MoveWeights::embedded());
    Ok(Bot::new(BOT.name, env!("CARGO_PKG_VERSION"))
        .can_resume()
        .thinks(move |start| Ai4Player {
            clock: BotClock::new(start),
            ..Ai4Player::new(options, Arc::clone(&weights), start.bot_seed)
        }))
}

/// The options of a player.
#[derive(Clone, Copy, Debug)]
pub struct PlayerOptions {
    budget: Ai4Budget,
    seed: Option<u64>,
    settings: SearchSettings,
}

impl PlayerOptions {
    /// Reads `ai4?parameter=value&…`.
    ///
    /// # Errors
    ///
    /// [`SpecError`] says what was expected.
    pub fn parse(spec: &str) -> Result<Self, SpecError> {
        let (_, parameters) = Parameters::read(spec, &[BOT])?;
        Self::read(&parameters)
    }

    fn read(parameters: &Parameters) -> Result<Self, SpecError> {
        let time = parameters.duration("time")?;
        let playouts =
            parameters.get("playouts", "a number of playouts, at least 1", |n| *n > 0)?;
        let level = parameters.level()?;
        let without = parameters.list("without")?;
        let seed = parameters.get("seed", "a whole number", |_| true)?;
        let threads = parameters.threads()?;
        let level = level.map(|level| BY_LEVEL[level - 1]);
        let mut without = without
            .into_iter()
            .fold(BigTwoIdeas::default(), BigTwoIdeas::with);
        if let Some((0, _)) = level {
            without = without.with(BigTwoIdea::Endgame);
        }
        let budget = match (level, playouts) {
            (Some((playouts, _)), _) => Ai4Budget::Playouts(playouts),
            (None, Some(playouts)) => Ai4Budget::Playouts(playouts),
            (None, None) => Ai4Budget::Time(time.unwrap_or(Duration::MAX)),
        };
        Ok(Self {
            budget,
            seed,
            settings: SearchSettings {
                threads,
                without,
                misjudges: level.map_or(0.0, |(_, misjudges)| misjudges),
                ..SearchSettings::default()
            },
        })
    }
}

/// `ai4` in one round.
pub struct Ai4Player {
    options: PlayerOptions,
    weights: Arc<MoveWeights>,
    seed: u64,
    engine: Option<BigTwoEngine>,
    heard: Option<View>,
    clock: BotClock,
}

impl Ai4Player {
    /// Before a round without a budget; `seed` decides what it draws at random where the options have none.
    #[must_use]
    pub fn new(options: PlayerOptions, weights: Arc<MoveWeights>, seed: u64) -> Self {
        Self {
            options,
            weights,
            seed: options.seed.unwrap_or(seed),
            engine: None,
            heard: None,
            clock: BotClock::without_budget(),
        }
    }

    /// Hears what its seat knows after a notice of a play, a pass or a forfeit.
    pub fn told(&mut self, view: &View) {
        let before = self.heard.replace(view.clone());
        if before.as_ref() == Some(view) {
            return;
        }
        let engine = self
            .engine
            .get_or_insert_with(|| begin(view, &self.options, &self.weights, self.seed));
        for seat in 0..4 {
            let standing = view.public.standing[seat];
            let was = before.as_ref().map(|before| before.public.standing[seat]);
            if let SeatStanding::Forfeited(place) = standing
                && was != Some(standing)
            {
                engine.forfeited(seat, place);
                return;
            }
        }
        if let Some((seat, did)) = view.public.last {
            engine.played(seat.index(), cards_of(did));
        }
    }

    /// The expected result of each seat after each of these moves, in their order, as shares of the
    /// points for places, when its seat is asked.
    pub fn prospects(&mut self, view: &View, legal: &[Move]) -> Vec<[f64; 4]> {
        let playouts = match self.options.budget {
            Ai4Budget::Playouts(playouts) => playouts.max(1),
            Ai4Budget::Time(_) => VALUE_PLAYOUTS,
        };
        let engine = self
            .engine
            .get_or_insert_with(|| begin(view, &self.options, &self.weights, self.seed));
        let found = engine.evaluate(playouts);
        let of = |did: &Move| {
            let cards = engine.same(cards_of(*did));
            let known = found.iter().find(|one| one.cards == cards);
            known.map_or([0.0; 4], |one| one.shares)
        };
        legal.iter().map(of).collect()
    }

    /// Its move, which it is asked for with this limit.
    pub fn choose(&mut self, view: &View, limit: Duration) -> Move {
        let own_cards = view.hand.len() as u32;
        let mut allowance = self.clock.begin(limit, own_cards + PASSES);
        let engine = self
            .engine
            .get_or_insert_with(|| begin(view, &self.options, &self.weights, self.seed));
        let mut search = PlayoutLimit::default();
        match self.options.budget {
            Ai4Budget::Time(time) => allowance = allowance.at_most(time),
            Ai4Budget::Playouts(playouts) => search.playouts = Some(playouts),
        }
        search.deadline = allowance.deadline();
        let best = engine.search(&search).cards;
        self.clock.end(allowance);
        if best.is_empty() {
            Move::Pass
        } else {
            Move::Play(Cards::from_bits(best.bits()))
        }
    }
}

impl Thinker<BigTwo> for Ai4Player {
    fn answer(&mut self, turn: &Turn<'_, BigTwo>) -> Move {
        self.choose(turn.view(), turn.limit)
    }

    fn values(&mut self, turn: &Turn<'_, BigTwo>) -> Option<Vec<f64>> {
        let prospects = self.prospects(turn.view(), &turn.legal());
        let own = turn.seat().index();
        Some(prospects.into_iter().map(|shares| shares[own]).collect())
    }

    fn shares(&mut self, turn: &Turn<'_, BigTwo>) -> Option<Vec<f64>> {
        let prospects = self.prospects(turn.view(), &turn.legal());
        let own = turn.seat().index();
        let best = prospects
            .into_iter()
            .reduce(|best, one| if one[own] > best[own] { one } else { best });
        best.map(|shares| shares.to_vec())
    }

    fn told(&mut self, view: &View) {
        Self::told(self, view);
    }
}

fn cards_of(did: Move) -> CardSet {
    match did {
        Move::Play(cards) => CardSet::from_bits(cards.bits()),
        Move::Pass => CardSet::NONE,
    }
}

/// An engine for a round of which at most one play, pass or forfeit has been made.
fn begin(
    view: &View,
    options: &PlayerOptions,
    weights: &Arc<MoveWeights>,
    seed: u64,
) -> BigTwoEngine {
    let public = &view.public;
    let dealt = [0, 1, 2, 3]
        .map(|seat| u32::from(public.cards_left[seat]) + u32::from(public.played[seat].len()));
    let rules = RoundOptions {
        scores: match public.rules.scoring {
            Scoring::Places => ScoringRule::Places,
            Scoring::Payout => ScoringRule::Payout,
        },
        reversal: public.rules.reversal,
    };
    let own = view.seat.index();
    let hand = (view.hand | public.played[own]).bits();
    BigTwoEngine::new(
        rules,
        own,
        CardSet::from_bits(hand),
        dealt,
        seed,
        options.settings,
        Arc::clone(weights),
    )
}

#[cfg(test)]
mod tests {
    use strum::VariantNames as _;

    use super::*;

    #[test]
    fn every_level_plays_out_more_or_misjudges_less() {
        for level in BY_LEVEL.windows(2) {
            assert!(level[1].0 > level[0].0 || level[1].1 < level[0].1);
        }
        for level in [0, 11] {
            let refused = crate::bot(&format!("ai4?level={level}")).err().unwrap();
            assert_eq!(
                refused.to_string(),
                format!("ai4?level={level}: expected a level of 1 to 10")
            );
        }
    }

    #[test]
    fn what_it_can_do_without_is_known() {
        for spec in ["ai4?without=belief", "ai4?without=styles,endgame"] {
            assert!(PlayerOptions::parse(spec).is_ok(), "{spec}");
        }
        let refused = crate::bot("ai4?without=belief,luck").err().unwrap();
        assert_eq!(
            refused.to_string(),
            "ai4?without=belief,luck: expected some of belief, styles, worth, endgame, race, \
             playouts, with commas between"
        );
        let told = BOT.parameters.iter().find(|one| one.name == "without");
        let names = BigTwoIdea::VARIANTS.join(", ");
        assert!(told.unwrap().summary.contains(&names));
    }

    #[test]
    fn what_is_fixed_can_be_asked_for() {
        for spec in ["ai4?playouts=100&seed=7", "ai4?threads=2&time=1s"] {
            assert!(PlayerOptions::parse(spec).is_ok(), "{spec}");
        }
        assert!(PlayerOptions::parse("ai4?playouts=0").is_err());
    }
}
