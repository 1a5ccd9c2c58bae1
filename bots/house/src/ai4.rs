//! `ai4`: the engine of the crate of that name, within the time that the referee allows.

use std::time::{Duration, Instant};

use ai4::{CardSet, Engine, Limit, Options, Scores, Settings};
use bot_kit::{Bot, Thinker, Turn};
use referee_games::big_two::{BigTwo, Cards, Move, Scoring, Standing, View};

use crate::{Games, HouseBot, Parameter, Parameters, SpecError, edge::Margin};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "ai4",
    summary: "infers the others' hands and plays out the deals that fit",
    games: Games::These(&["big_two"]),
    parameters: &[
        Parameter {
            name: "time",
            standard: "2s, or the limit less a margin",
            summary: "thinking time for a move",
        },
        Parameter {
            name: "playouts",
            standard: "as many as the time allows",
            summary: "a fixed number of rounds played out for a move, instead of a time",
        },
    ],
    shows: &["ai4?time=50ms"],
    build,
};

/// Thinking time where the limit allows it and no other is given.
const THINKING_TIME: Duration = Duration::from_secs(2);

/// What a move may take.
#[derive(Clone, Copy, Debug)]
enum Budget {
    Time(Duration),
    Playouts(u64),
}

fn build(parameters: &Parameters) -> Result<Bot, SpecError> {
    let options = PlayerOptions::read(parameters)?;
    Ok(Bot::new(BOT.name, env!("CARGO_PKG_VERSION"))
        .can_resume()
        .thinks(move |start| Player::new(options, start.bot_seed)))
}

/// How a player plays.
#[derive(Clone, Copy, Debug)]
pub struct PlayerOptions {
    budget: Budget,
    settings: Settings,
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
        let budget = match playouts {
            Some(playouts) => Budget::Playouts(playouts),
            None => Budget::Time(time.unwrap_or(THINKING_TIME)),
        };
        Ok(Self {
            budget,
            settings: Settings::default(),
        })
    }
}

/// `ai4` in one round.
pub struct Player {
    options: PlayerOptions,
    seed: u64,
    engine: Option<Engine>,
    heard: Option<View>,
    margin: Margin,
}

impl Player {
    /// Before the round; `seed` decides what it draws at random.
    #[must_use]
    pub fn new(options: PlayerOptions, seed: u64) -> Self {
        Self {
            options,
            seed,
            engine: None,
            heard: None,
            margin: Margin::new(),
        }
    }

    /// Hears what its seat knows after a notice of a play, a pass or a forfeit.
    pub fn told(&mut self, view: &View) {
        let before = self.heard.replace(view.clone());
        if before.as_ref() == Some(view) {
            return;
        }
        let engine = self.engine.get_or_insert_with(|| begin(view, self.options, self.seed));
        for seat in 0..4 {
            let standing = view.public.standing[seat];
            let was = before.as_ref().map(|before| before.public.standing[seat]);
            if let Standing::Forfeited(place) = standing
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

    /// Its move, which it is asked for with this limit.
    pub fn choose(&mut self, view: &View, limit: Duration) -> Move {
        let began = Instant::now();
        let engine = self.engine.get_or_insert_with(|| begin(view, self.options, self.seed));
        let mut allowed = self.margin.within(limit);
        let mut search = Limit::default();
        match self.options.budget {
            Budget::Time(time) => allowed = allowed.min(time),
            Budget::Playouts(playouts) => search.playouts = Some(playouts),
        }
        search.deadline = began.checked_add(allowed);
        let best = engine.search(&search)[0].cards;
        self.margin.learn(began.elapsed().saturating_sub(allowed));
        if best.is_empty() {
            Move::Pass
        } else {
            Move::Play(Cards::from_bits(best.bits()))
        }
    }
}

impl Thinker<BigTwo> for Player {
    fn answer(&mut self, turn: &Turn<'_, BigTwo>) -> Move {
        self.choose(turn.view(), turn.limit)
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
fn begin(view: &View, options: PlayerOptions, seed: u64) -> Engine {
    let public = &view.public;
    let dealt = [0, 1, 2, 3].map(|seat| {
        u32::from(public.cards_left[seat]) + u32::from(public.played[seat].len())
    });
    let rules = Options {
        scores: match public.rules.scoring {
            Scoring::Places => Scores::Places,
            Scoring::Payout => Scores::Payout,
        },
        reversal: public.rules.reversal,
    };
    let own = view.seat.index();
    let hand = (view.hand | public.played[own]).bits();
    Engine::new(
        rules,
        own,
        CardSet::from_bits(hand),
        dealt,
        seed,
        options.settings,
    )
}
