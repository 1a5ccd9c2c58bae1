//! Plays Mahjong in this process: a bot in the arcade case (seat 0 against `simple`), or two bots
//! against each other in duplicate play (each deal from both seats). It says the mean score of a
//! round with its standard error.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;
use house_bots::{LocalPlayer, bot};
use referee_core::{Limits, PerSeat, Root, Seat, Verdict};
use referee_games::{Fixture, Next, SeatReply, Sitting, game};
use serde_json::Value;

/// Plays Mahjong: a bot in the arcade case, or two bots against each other.
#[derive(Parser)]
struct Arguments {
    /// The bot whose score is told: NAME?parameter=value
    bot: String,
    /// Its opponent in duplicate play; without one it plays the arcade case
    opponent: Option<String>,
    /// How many rounds; in duplicate play, how many deals
    #[arg(long, default_value_t = 1000)]
    rounds: u64,
    /// What rounds are drawn from: a word
    #[arg(long, default_value = "gauntlet")]
    seed: Root,
    /// The first round's number
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// The limit of an answer
    #[arg(long, default_value = "3s", value_parser = humantime::parse_duration)]
    limit: Duration,
    /// The time of a bot for eight rounds; it lowers the limit as it runs out
    #[arg(long, value_parser = humantime::parse_duration)]
    budget: Option<Duration>,
    /// Also a line for each round: its number and its score
    #[arg(long)]
    each: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let mut rounds = Rounds::default();
    let mut time = Time::default();
    let mut spent = Duration::ZERO;
    for number in arguments.from..arguments.from + arguments.rounds {
        if number % 8 == 0 {
            spent = Duration::ZERO;
        }
        let mut play = |measured: usize| {
            let other = arguments.opponent.as_deref().unwrap_or("simple");
            let mut specs = [arguments.bot.as_str(), other];
            specs.rotate_left(measured);
            let seed = arguments.seed.seed("mahjong", number);
            let mut spents = PerSeat::new(2, |_| Duration::ZERO);
            spents[Seat::new(measured as u8)] = spent;
            let fixture = Fixture {
                kind: game("mahjong").ok_or("no such game")?,
                game_id: number.to_string(),
                setup: Value::Null,
                seed,
                players: vec!["one".to_owned(), "other".to_owned()].into(),
                limits: Limits {
                    start: Duration::from_mins(1),
                    per_move: arguments.limit,
                    budget: arguments.budget,
                    answer_bytes: 64 * 1024,
                },
                spent: spents,
            };
            let before = time.total;
            let scores = round(fixture, specs, measured, &mut time)?;
            spent += time.total - before;
            Ok::<_, String>(scores)
        };
        let [own, other] = play(0)?;
        let score = match &arguments.opponent {
            None => own,
            Some(_) => {
                let [first, second] = play(1)?;
                for (own, other) in [(own, other), (second, first)] {
                    rounds.won += f64::from(u8::from(own > 0.0)) / 2.0;
                    rounds.lost += f64::from(u8::from(other > 0.0)) / 2.0;
                    rounds.own += own / 2.0;
                }
                f64::midpoint(own - other, second - first)
            }
        };
        if arguments.each {
            println!("{number} {score}");
        }
        rounds.add(score);
    }
    println!("{rounds}");
    if arguments.opponent.is_some() {
        println!(
            "  won {:.1} %, lost {:.1} %, own score {:.2} a round",
            100.0 * rounds.won / rounds.count,
            100.0 * rounds.lost / rounds.count,
            rounds.own / rounds.count
        );
    }
    println!("{time}");
    Ok(())
}

/// Scores of rounds, or of deals that are played from both seats.
#[derive(Default)]
struct Rounds {
    count: f64,
    sum: f64,
    squares: f64,
    won: f64,
    lost: f64,
    own: f64,
}

impl Rounds {
    fn add(&mut self, score: f64) {
        self.count += 1.0;
        self.sum += score;
        self.squares += score * score;
    }
}

impl std::fmt::Display for Rounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mean = self.sum / self.count;
        let variance = self.squares / self.count - mean * mean;
        let error = (variance / (self.count - 1.0).max(1.0)).sqrt();
        write!(
            f,
            "{mean:+.2} points a round, standard error {error:.2}, {} rounds or deals",
            self.count
        )
    }
}

/// The time of the measured bot.
#[derive(Default)]
struct Time {
    answers: u32,
    total: Duration,
    longest: Duration,
    rounds: u32,
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "  {:.2} ms an answer, {:.1} ms at most, {:.0} ms for eight rounds",
            self.total.as_secs_f64() * 1000.0 / f64::from(self.answers.max(1)),
            self.longest.as_secs_f64() * 1000.0,
            8.0 * self.total.as_secs_f64() * 1000.0 / f64::from(self.rounds.max(1)),
        )
    }
}

/// Plays a round and gives the scores of both seats.
fn round(
    fixture: Fixture,
    specs: [&str; 2],
    measured: usize,
    clock: &mut Time,
) -> Result<[f64; 2], String> {
    let path = fixture.kind.path();
    let mut sitting = Sitting::new(fixture).map_err(|error| error.to_string())?;
    let mut players: [Option<LocalPlayer>; 2] = [None, None];
    clock.rounds += 1;
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
                    if question.number == 0 {
                        let bot = bot(specs[at]).map_err(|error| error.to_string())?;
                        let player = bot.sit(path, &question.call);
                        players[at] = Some(player.map_err(|error| error.to_string())?);
                        let ready = SeatReply::Answer(referee_games::ready());
                        sitting.hear(question.seat, ready, Duration::ZERO);
                        continue;
                    }
                    let began = Instant::now();
                    let player = players[at].as_mut().ok_or("nobody sits here")?;
                    let answer = player.hear(&question.call);
                    let answer = answer.map_err(|error| error.to_string())?;
                    let time = began.elapsed();
                    if at == measured {
                        clock.total += time;
                        clock.longest = clock.longest.max(time);
                        clock.answers += 1;
                    }
                    let answer = answer.ok_or("a bot did not answer")?;
                    sitting.hear(question.seat, SeatReply::Answer(answer), time);
                }
            }
            Next::Over(finished) => {
                let Verdict::Finished { outcome, fouls } = &finished.record.result.verdict else {
                    return Err("the round did not finish".to_owned());
                };
                if let Some(foul) = fouls.first() {
                    return Err(format!("a foul: {foul:?}"));
                }
                return Ok([0, 1].map(|seat| f64::from(outcome.scores[Seat::new(seat)])));
            }
        }
    }
}
