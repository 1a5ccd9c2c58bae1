//! `tenpai`: the engine of the crate of that name.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use bot_kit::{Bot, Thinker, Turn};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_core::Seat;
use referee_games::mahjong::{Answer, Mahjong, MissingSuit, Private, Public, Question, Tile};
use tenpai::{MahjongEngine, MahjongIdea, NetworkWeights, Situation, ThinkingLimit, Tiles, Valued};

use crate::{HouseBot, LEVELS, Parameter, Parameters, PlayedGames, SpecError, clock::BotClock};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "tenpai",
    summary: "expects the round's score with a learned network, and looks ahead over draws",
    games: PlayedGames::These(&["mahjong"]),
    parameters: &[
        Parameter {
            name: "time",
            standard: "a share of the limit, at most 60ms",
            summary: "thinking time for an answer",
        },
        Parameter {
            name: "hands",
            standard: "as many as the time allows",
            summary: "about how many hands it evaluates for an answer, instead of a time",
        },
        Parameter {
            name: "playouts",
            standard: "none",
            summary: "about how many playouts compare the good discards after that, within the limit",
        },
        Parameter {
            summary: "how many threads make the playouts",
            ..Parameter::THREADS
        },
        Parameter::LEVEL,
        Parameter {
            name: "opponent",
            standard: "worked out from its discards",
            summary: "how likely the other seat never wins, from 0 to 1",
        },
        Parameter {
            name: "without",
            standard: "nothing",
            summary: "ideas that it does without, to see what they are worth: ahead, waiting, \
                      danger, chances",
        },
    ],
    shows: &["tenpai?time=10ms"],
    build,
};

/// The longest that it thinks where nobody asks for more.
const THINKING_TIME: Duration = Duration::from_millis(60);
/// The answers that a limit must last for, since it may be what is left of several rounds.
const ANSWERS: u32 = 100;
/// By level: by how many points it misjudges a discard at most, and how many hands it evaluates.
const BY_LEVEL: [(f64, u64); LEVELS] = [
    (32.0, 1),
    (24.0, 1),
    (18.5, 1),
    (15.0, 1),
    (12.0, 1),
    (9.5, 1),
    (7.0, 1),
    (4.5, 1),
    (0.0, 1),
    (0.0, HANDS),
];

/// Enough hands for the good discards and for a hand that declines a win.
const HANDS: u64 = 2_500;

/// Tells people what a hand is worth: with the wide network, whose values are expected points. It takes more
/// memory than the bot may in the arcade, where nobody asks for that.
static JUDGE: LazyLock<MahjongEngine> =
    LazyLock::new(|| MahjongEngine::new(NetworkWeights::wide()));

/// The amount of thinking for an answer.
#[derive(Clone, Copy, Debug)]
enum Effort {
    /// A share of the limit, at most this.
    Share(Duration),
    /// This time, if the limit allows it.
    Time(Duration),
    /// About so many hands.
    Hands(u64),
}

/// The settings that it plays with.
#[derive(Clone, Debug)]
struct TenpaiSettings {
    effort: Effort,
    /// The most playouts of an answer.
    playouts: u64,
    /// Number of threads that make them.
    threads: usize,
    /// By how many points it misjudges a discard at most.
    error: f64,
    /// The chance that the opponent never wins, if it is given.
    passive: Option<f32>,
    without: Vec<MahjongIdea>,
}

impl TenpaiSettings {
    fn of(parameters: &Parameters) -> Result<Self, SpecError> {
        let time = parameters.duration("time")?;
        let hands = parameters.get("hands", "a number of hands, at least 1", |n| *n > 0)?;
        let playouts =
            parameters.get("playouts", "a number of playouts, at least 1", |n| *n > 0)?;
        let level = parameters.level()?;
        let passive = parameters.get("opponent", "a chance from 0 to 1", |chance| {
            (0.0..=1.0).contains(chance)
        })?;
        let without = parameters.list("without")?;
        let (error, effort) = match (level, hands, time) {
            (Some(level), _, _) => {
                let (error, hands) = BY_LEVEL[level - 1];
                (error, Effort::Hands(hands))
            }
            (None, Some(hands), _) => (0.0, Effort::Hands(hands)),
            (None, None, Some(time)) => (0.0, Effort::Time(time)),
            (None, None, None) if playouts.is_some() => (0.0, Effort::Hands(HANDS)),
            (None, None, None) => (0.0, Effort::Share(THINKING_TIME)),
        };
        Ok(Self {
            effort,
            // A level is a fixed amount of work.
            playouts: playouts.filter(|_| level.is_none()).unwrap_or(0),
            threads: parameters.threads()?.get(),
            error,
            passive,
            without,
        })
    }
}

fn build(parameters: &Parameters) -> Result<Bot, SpecError> {
    let settings = TenpaiSettings::of(parameters)?;
    // Neither the time nor the memory of it is a game's.
    tenpai::prepare();
    let weights = if settings.playouts > 0 {
        NetworkWeights::wide()
    } else {
        NetworkWeights::embedded()
    };
    let engine = MahjongEngine::new(weights).without(settings.without.clone());
    let engine = Arc::new(engine);
    Ok(Bot::new(BOT.name, env!("CARGO_PKG_VERSION"))
        .can_resume()
        .thinks(move |start| {
            TenpaiPlayer::new(settings.clone(), Arc::clone(&engine), start.bot_seed)
        }))
}

/// The bot in one game.
struct TenpaiPlayer {
    engine: Arc<MahjongEngine>,
    settings: TenpaiSettings,
    rng: ChaCha8Rng,
    clock: BotClock,
}

impl TenpaiPlayer {
    fn new(settings: TenpaiSettings, engine: Arc<MahjongEngine>, seed: u64) -> Self {
        Self {
            engine,
            settings,
            rng: ChaCha8Rng::seed_from_u64(seed),
            // A share of the limit is a share of a budget, where that is what is left.
            clock: BotClock::without_budget(),
        }
    }

    /// The answer of a seat that knows this, within the limit.
    fn answer(
        &mut self,
        known: (&Public, &Private),
        seat: Seat,
        question: Question,
        limit: Duration,
    ) -> Answer {
        let time = self.clock.begin(limit, 1);
        let mut situation = situation(known, seat, question);
        situation.passive = self.settings.passive;
        let time = match self.settings.effort {
            Effort::Share(most) => time.at_most(most.min(limit / ANSWERS)),
            Effort::Time(most) => time.at_most(most),
            Effort::Hands(_) => time,
        };
        let clock = || time.elapsed();
        let limit = match self.settings.effort {
            Effort::Hands(hands) => ThinkingLimit::hands(hands).until(time.allowed, &clock),
            Effort::Share(_) | Effort::Time(_) => ThinkingLimit::clock(time.allowed, &clock),
        };
        let limit = limit
            .and_playouts(self.settings.playouts)
            .and_threads(self.settings.threads);
        let answer = match question {
            Question::Discard => {
                let discards = self.engine.discards(&situation, &limit);
                Answer::Discard(self.chosen(&discards))
            }
            Question::Win { self_draw } => {
                let tile = winning_tile(known, self_draw);
                let wins =
                    tile.is_none_or(|tile| self.engine.wins(&situation, tile, self_draw, &limit));
                if wins { Answer::Win } else { Answer::Pass }
            }
        };
        self.clock.end(time);
        answer
    }

    /// The best discard if each was misjudged by up to the level's error, evenly.
    fn chosen(&mut self, discards: &[Valued]) -> Tile {
        let error = self.settings.error;
        let judged = discards.iter().map(|discard| {
            let off = if error > 0.0 {
                error * (2.0 * self.rng.random::<f64>() - 1.0)
            } else {
                0.0
            };
            (discard.tile, f64::from(discard.value) + off)
        });
        // The first of equals is the engine's choice.
        let best = judged.reduce(|best, one| if one.1 > best.1 { one } else { best });
        let (tile, _) = best.expect("a hand has tiles");
        Tile::all()
            .nth(tile.index())
            .expect("both count tiles alike")
    }
}

impl Thinker<Mahjong> for TenpaiPlayer {
    fn answer(&mut self, turn: &Turn<'_, Mahjong>) -> Answer {
        let view = turn.view();
        let known = (&view.public, &view.private);
        Self::answer(self, known, turn.seat(), turn.question, turn.limit)
    }

    /// By the expected points: who expects those of a win more than the other one has all.
    fn values(&mut self, turn: &Turn<'_, Mahjong>) -> Option<Vec<f64>> {
        let view = turn.view();
        let known = (&view.public, &view.private);
        let mut situation = situation(known, turn.seat(), turn.question);
        situation.passive = self.settings.passive;
        let discards = match turn.question {
            Question::Discard => JUDGE.estimates(&situation),
            Question::Win { .. } => Vec::new(),
        };
        let choice = match turn.question {
            Question::Discard => None,
            Question::Win { self_draw } => {
                let tile = winning_tile(known, self_draw)?;
                let limit = ThinkingLimit::hands(HANDS);
                JUDGE.win_or_wait(&situation, tile, self_draw, &limit)
            }
        };
        let of = |legal: &Answer| {
            let points = match legal {
                Answer::Win => choice?.score,
                Answer::Pass => choice?.wait,
                Answer::Discard(tile) => {
                    let valued = discards.iter().find(|it| it.tile == here(*tile));
                    valued?.value
                }
            };
            Some(share(points))
        };
        turn.legal().iter().map(of).collect()
    }
}

/// The tile that the seat may win with.
fn winning_tile((public, private): (&Public, &Private), self_draw: bool) -> Option<tenpai::Tile> {
    let tile = if self_draw {
        private.drawn
    } else {
        public.last_discard()
    };
    tile.map(here)
}

/// About what a round's winner scores.
const WIN: f64 = 57.0;

/// The share of the points that so many points more than the other seat's stand for.
fn share(points: f32) -> f64 {
    (0.5 + f64::from(points) / (2.0 * WIN)).clamp(0.0, 1.0)
}

fn here(tile: Tile) -> tenpai::Tile {
    tenpai::Tile::new(tile.index()).expect("both count tiles alike")
}

/// The knowledge of a seat in the engine's form.
fn situation((public, private): (&Public, &Private), seat: Seat, question: Question) -> Situation {
    let river = |seat: Seat| public.rivers[seat.index()].iter().map(|&tile| here(tile));
    let own_turn = question != Question::Win { self_draw: false };
    Situation {
        hand: private.all().tiles().map(here).collect::<Tiles>(),
        own_river: river(seat).collect(),
        other_river: river(seat.other()).collect(),
        began: seat.index() == 0,
        // The wall is counted at the beginning of a turn.
        left: public.wall - u8::from(own_turn),
        three_suits: public.missing_suit == MissingSuit::Free,
        passive: None,
    }
}
