//! Plays one deal of an experiment, from one seat or from each.

use std::time::{Duration, Instant};

use house_bots::{LocalPlayer, bot};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_core::{Limits, PerSeat, Seat, Seed, Verdict};
use referee_games::{Fixture, Next, SeatReply, Sitting, game};
use serde_json::{Value, json};

use crate::{
    experiments::Experiment,
    results::{Game, Played},
};

/// Longer than any bot of the experiments thinks.
const LIMITS: Limits = Limits {
    start: Duration::from_mins(1),
    per_move: Duration::from_mins(1),
    budget: None,
    answer_bytes: 64 * 1024,
};
/// The random plies that a game of Othello begins with.
const OPENING_PLIES: usize = 8;

/// Plays it.
///
/// # Errors
/// A bot is unknown, or commits a foul.
pub(crate) fn play(experiment: &Experiment, deal: u64) -> Result<Played, String> {
    let kind = game(experiment.game).ok_or("no such game")?;
    let mut seed = [0; 32];
    ChaCha8Rng::seed_from_u64(deal).fill(&mut seed);
    let setup = setup(experiment.game, deal)?;
    let seats = usize::from(kind.info().seats);
    let mut games = Vec::new();
    for seat in 0..if experiment.every_seat { seats } else { 1 } {
        let mut others = experiment.others.iter();
        let specs: Vec<&String> = (0..seats)
            .map(|at| match at == seat {
                true => Ok(&experiment.bot),
                false => others.next().ok_or("too few bots"),
            })
            .collect::<Result<_, _>>()?;
        let fixture = Fixture {
            kind,
            game_id: format!("{deal}-{seat}"),
            setup: setup.clone(),
            seed: Seed::new(seed),
            players: specs
                .iter()
                .enumerate()
                .map(|(at, spec)| format!("{spec} {at}"))
                .collect::<Vec<_>>()
                .into(),
            limits: LIMITS,
            spent: PerSeat::default(),
        };
        games.push(one(fixture, &specs, seat)?);
    }
    Ok(Played {
        experiment: experiment.title(),
        deal,
        games,
    })
}

/// Plays one game.
fn one(fixture: Fixture, specs: &[&String], measured: usize) -> Result<Game, String> {
    let path = fixture.kind.path();
    let mut sitting = Sitting::new(fixture).map_err(|error| error.to_string())?;
    let mut players: Vec<Option<LocalPlayer>> = specs.iter().map(|_| None).collect();
    let (mut moves, mut total, mut longest) = (0, Duration::ZERO, Duration::ZERO);
    loop {
        match sitting.advance() {
            Next::Tell(calls) => {
                for (seat, call) in calls {
                    let player = players[seat.index()].as_mut().ok_or("nobody sits here")?;
                    player.hear(&call).map_err(|error| error.to_string())?;
                }
            }
            Next::Ask(questions) => {
                for question in questions {
                    let at = question.seat.index();
                    let begin = Instant::now();
                    let answer = if question.number == 0 {
                        let bot = bot(specs[at]).map_err(|error| error.to_string())?;
                        let player = bot.sit(path, &question.call);
                        players[at] = Some(player.map_err(|error| error.to_string())?);
                        referee_games::ready()
                    } else {
                        let player = players[at].as_mut().ok_or("nobody sits here")?;
                        let answer = player.hear(&question.call);
                        answer
                            .map_err(|error| error.to_string())?
                            .ok_or("a bot did not answer")?
                    };
                    let time = begin.elapsed();
                    if at == measured && question.number > 0 {
                        moves += 1;
                        total += time;
                        longest = longest.max(time);
                    }
                    sitting.hear(question.seat, SeatReply::Answer(answer), time);
                }
            }
            Next::Over(finished) => {
                let Verdict::Finished { outcome, fouls } = &finished.record.result.verdict else {
                    return Err("the game did not finish".to_owned());
                };
                if let Some(foul) = fouls.first() {
                    return Err(format!("a foul: {foul:?}"));
                }
                let seat = Seat::new(measured as u8);
                let others: i32 =
                    outcome.scores.as_slice().iter().sum::<i32>() - outcome.scores[seat];
                return Ok(Game {
                    place: share(&outcome.places, seat),
                    score: outcome.scores[seat],
                    others,
                    moves,
                    mean_us: (total.as_micros() / u128::from(moves.max(1))) as u64,
                    longest_us: longest.as_micros() as u64,
                });
            }
        }
    }
}

/// The place of a seat from 1; who shares places has their mean.
fn share(places: &PerSeat<u8>, seat: Seat) -> f64 {
    let place = places[seat];
    let same = places
        .as_slice()
        .iter()
        .filter(|&&other| other == place)
        .count();
    f64::from(place) + (same as f64 - 1.0) / 2.0
}

/// The set-up of a deal: an opening where bots would repeat themselves otherwise.
fn setup(name: &str, deal: u64) -> Result<Value, String> {
    let mut rng = ChaCha8Rng::seed_from_u64(deal.wrapping_add(1 << 32));
    match name {
        "othello" => loop {
            let moves = random_moves(name, &mut rng)?;
            if moves.len() == OPENING_PLIES {
                return Ok(json!({ "moves": moves.concat() }));
            }
        },
        _ => Ok(Value::Null),
    }
}

/// Random legal moves in the notation of the game.
fn random_moves(name: &str, rng: &mut ChaCha8Rng) -> Result<Vec<String>, String> {
    let fixture = Fixture {
        kind: game(name).ok_or("no such game")?,
        game_id: "opening".to_owned(),
        setup: Value::Null,
        seed: Seed::new([0; 32]),
        players: vec!["one".to_owned(), "other".to_owned()].into(),
        limits: LIMITS,
        spent: PerSeat::default(),
    };
    let mut sitting = Sitting::new(fixture).map_err(|error| error.to_string())?;
    let mut moves = Vec::new();
    while moves.len() < OPENING_PLIES {
        match sitting.advance() {
            Next::Tell(_) => {}
            Next::Over(_) => break,
            Next::Ask(questions) => {
                for question in questions {
                    let answer = if question.number == 0 {
                        referee_games::ready()
                    } else {
                        let legal = sitting.legal(question.seat);
                        let (notation, message) = &legal[rng.random_range(0..legal.len())];
                        moves.push(notation.clone());
                        referee_games::answer(question.number, message)
                    };
                    sitting.hear(question.seat, SeatReply::Answer(answer), Duration::ZERO);
                }
            }
        }
    }
    Ok(moves)
}
