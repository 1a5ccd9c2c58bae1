//! `arena replay explain`: the move that turned a game, by playing on from every
//! position of it.

use std::path::PathBuf;

use anyhow::Context as _;
use bytes::Bytes;
use clap::Args;
use house_bots::HOUSE;
use referee_core::{Dice, PerSeat, Record, Root, Seat};
use referee_games::{Judgement, Mismatch, Retraced, SeatReply, Sitting, game, past, retrace};
use serde_json::json;

use super::{
    house::{House, Position},
    in_words,
    search::{Does, Estimate, SEARCHES, best, share},
};
use crate::{
    End,
    entry::Entry,
    files,
    report::{event, plain_table, shorten, text, wrapped},
    run,
    tally::plural,
    usage,
    verbs::Format,
};

/// For each move what its seat could expect after it, as a share of the points (100
/// is the first place alone), and what a better move was worth. Both are found by
/// searches with all hands open, which see more than any player did; or by a bot of
/// the house, which plays on in every seat and knows what that seat knew.
#[derive(Args)]
pub(crate) struct Explain {
    /// A record (.jsonl or .jsonl.zst).
    file: PathBuf,
    /// A bot of the house, better by playouts than by time: it says what it would
    /// have played, and plays on in every seat, but for one answer in ten, which is
    /// any.
    #[arg(long, value_name = "SPEC")]
    bot: Option<String>,
    /// How many playouts a move gets: more see further. A search has 8 times as many
    /// [default: 500; with --bot 100].
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    playouts: Option<u32>,
    /// Other chance: a number or a word. The same seed says the same.
    #[arg(long, default_value = "explain")]
    seed: String,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// A move of the record.
struct Ply {
    /// From 1.
    number: usize,
    seat: Seat,
    notation: String,
    /// What could have been answered.
    legal: Vec<String>,
    does: Does,
    /// The game when it was asked for.
    sitting: Sitting,
    /// What each seat had been sent by then, with its answers.
    sent: PerSeat<Vec<Bytes>>,
}

/// A move and what was found of it.
struct Judged {
    ply: Ply,
    /// What its seat can expect after it.
    after: Estimate,
    /// A better one, and the same after it.
    better: Option<(usize, Estimate)>,
}

/// A move whose loss is this many times as large as its standard error was no
/// accident: with two means of 8 searches each that is as rare as 1 in 1,500
/// (Student's distribution, 14 degrees of freedom).
const SURE: f64 = 4.0;
/// A move that cost less of the points than this turned nothing.
const LEAST: f64 = 0.05;
/// By so much more is the move searched that seems to have turned the game.
const CLOSER: u32 = 4;

impl Explain {
    pub(super) fn run(self) -> anyhow::Result<End> {
        let record = files::read(&self.file).or_else(|error| usage(format!("{error:#}")))?;
        let root: Root = self
            .seed
            .parse()
            .or_else(|error| usage(format!("--seed: {error}")))?;
        let playouts = self.playouts.unwrap_or(match self.bot {
            Some(_) => 100,
            None => 500,
        });
        let plies =
            plies(&record).with_context(|| format!("{} does not replay", self.file.display()))?;
        let outcome = record.result.verdict.outcome().cloned();
        let eyes = Eyes {
            house: self.house(&record)?,
            root,
        };
        let mut judged = eyes.judge(plies, playouts)?;
        // Who won was not turned against.
        let lost = |ply: &Ply| {
            outcome
                .as_ref()
                .is_none_or(|outcome| share(outcome, ply.seat) < 1.0)
        };
        let worst = judged
            .iter_mut()
            .filter(|one| lost(&one.ply) && one.loss() > 0.0)
            .max_by(|one, other| one.loss().total_cmp(&other.loss()));
        let turned = match worst {
            Some(one) => eyes.closer(one, playouts.saturating_mul(CLOSER))?,
            None => None,
        };
        let players = &record.header.players;
        match self.format {
            Format::Text => {
                let rows = judged.iter().map(|one| one.row(&players[one.ply.seat]));
                plain_table(&HEADER, rows)?;
                let words = match &turned {
                    Some(turned) => turned.in_words(&players[turned.seat]),
                    None if self.bot.is_none() => format!(
                        "no single move turned it, as far as a search can tell; a bot that \
                         knows the game may see more: --bot {}",
                        players_of(&record.header.game).join(", ")
                    ),
                    None => "no single move turned it".to_owned(),
                };
                let playouts = plural(playouts, "playout");
                let by = match &self.bot {
                    Some(bot) => format!("{playouts} by {bot} in every seat"),
                    None => format!("{SEARCHES} searches of {playouts} with all hands open"),
                };
                let how = format!("shares of the points, ± one standard error, by {by}");
                let [words, end, how] = [words, in_words(&record), how].map(|line| wrapped(&line));
                text(&format!("\n{words}\n{end}\n{how}\n"))?;
            }
            Format::Json => {
                for one in &judged {
                    event(&one.event(&players[one.ply.seat]))?;
                }
                event(&json!({
                    "type": "turned",
                    "move": turned.as_ref().map(|turned| turned.number),
                    "player": turned.as_ref().map(|turned| &players[turned.seat]),
                    "notation": turned.as_ref().map(|turned| &turned.notation),
                    "expects": turned.as_ref().map(|turned| turned.after.mean),
                    "better": turned.as_ref().map(|turned| &turned.better),
                    "would_expect": turned.as_ref().map(|turned| turned.instead.mean),
                    "error": turned.as_ref().map(|turned| error(&turned.after, &turned.instead)),
                    "by": self.bot.as_deref().unwrap_or("search"), "playouts": playouts,
                }))?;
            }
        }
        Ok(End::Done)
    }

    /// The bot that plays on, where one was named.
    fn house(&self, record: &Record) -> anyhow::Result<Option<House>> {
        let Some(spec) = &self.bot else {
            return Ok(None);
        };
        let name = spec.strip_prefix("house:");
        let Some(name) = name else {
            return usage(format!(
                "--bot {spec}: expected a bot of the house, house:NAME"
            ));
        };
        let kind = game(&record.header.game).context("it has just been replayed")?;
        Entry::read(spec)?.must_play(kind.info())?;
        let bot = house_bots::bot(name).or_else(|error| usage(error.to_string()))?;
        Ok(Some(House { bot, kind }))
    }
}

/// By what moves are judged.
struct Eyes {
    /// Without one it is a search.
    house: Option<House>,
    root: Root,
}

impl Eyes {
    /// Looks at every move, on all cores; what is found goes by the seed alone.
    fn judge(&self, plies: Vec<Ply>, playouts: u32) -> anyhow::Result<Vec<Judged>> {
        let threads = run::standard_concurrency();
        let mut shares: Vec<Vec<Ply>> = (0..threads).map(|_| Vec::new()).collect();
        for (at, ply) in plies.into_iter().enumerate() {
            shares[at % threads].push(ply);
        }
        let judged: anyhow::Result<Vec<Vec<Judged>>> = std::thread::scope(|scope| {
            let working: Vec<_> = shares
                .into_iter()
                .map(|share| {
                    scope.spawn(move || {
                        let judged = share.into_iter().map(|ply| self.judge_one(ply, playouts));
                        judged.collect()
                    })
                })
                .collect();
            let done = working.into_iter().map(|thread| {
                let judged = thread.join();
                judged.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            done.collect()
        });
        let mut judged: Vec<Judged> = judged?.into_iter().flatten().collect();
        judged.sort_by_key(|one| one.ply.number);
        Ok(judged)
    }

    fn judge_one(&self, ply: Ply, playouts: u32) -> anyhow::Result<Judged> {
        let mut dice = Dice::new(&self.root.seed("explain", ply.number as u64));
        let after = self.estimate(&ply, ply.does, playouts, &mut dice)?;
        let best = if ply.legal.len() > 1 || ply.does == Does::Fouls {
            self.best(&ply, playouts, &mut dice)?
        } else {
            None
        };
        let better = match best {
            Some(best) if ply.does != Does::Answers(best) => {
                let does = Does::Answers(best);
                Some((best, self.estimate(&ply, does, playouts, &mut dice)?))
            }
            _ => None,
        };
        Ok(Judged { ply, after, better })
    }

    /// Looks again, closer and with other chance, at the move that seems to have cost
    /// the most: being the first of many it may have been so by accident.
    fn closer(&self, one: &mut Judged, playouts: u32) -> anyhow::Result<Option<Turned>> {
        let (Some((best, _)), ply) = (one.better, &one.ply) else {
            return Ok(None);
        };
        let mut dice = Dice::new(&self.root.seed("closer", ply.number as u64));
        let after = self.estimate(ply, ply.does, playouts, &mut dice)?;
        let instead = self.estimate(ply, Does::Answers(best), playouts, &mut dice)?;
        let turned = Turned {
            number: ply.number,
            seat: ply.seat,
            notation: ply.notation.clone(),
            after,
            better: ply.legal[best].clone(),
            instead,
        };
        one.after = after;
        one.better = Some((best, instead));
        Ok(one.is_loss().then_some(turned))
    }

    fn estimate(
        &self,
        ply: &Ply,
        does: Does,
        playouts: u32,
        dice: &mut Dice,
    ) -> anyhow::Result<Estimate> {
        let table = ply.sitting.table();
        match &self.house {
            Some(house) => house.estimate(&ply.position(), does, playouts, dice),
            None => Ok(Estimate::after(table, ply.seat, does, playouts, dice)),
        }
    }

    /// What should have been answered. A search for it is one of its own, so that what
    /// the answer seems to be worth is not the reason why it was picked.
    fn best(&self, ply: &Ply, playouts: u32, dice: &mut Dice) -> anyhow::Result<Option<usize>> {
        match &self.house {
            Some(house) => house.answer(&ply.position()),
            None => Ok(Some(best(
                ply.sitting.table(),
                ply.seat,
                ply.legal.len(),
                playouts.saturating_mul(SEARCHES) / 2,
                dice,
            ))),
        }
    }
}

impl Ply {
    const fn position(&self) -> Position<'_> {
        Position {
            sitting: &self.sitting,
            sent: &self.sent,
            seat: self.seat,
        }
    }
}

/// The move that turned the game.
struct Turned {
    number: usize,
    seat: Seat,
    notation: String,
    after: Estimate,
    better: String,
    instead: Estimate,
}

impl Turned {
    fn in_words(&self, player: &str) -> String {
        format!(
            "move {} turned the game: {player} played {} and could expect {}; {} was worth {}",
            self.number,
            self.notation,
            percent(&self.after),
            self.better,
            percent(&self.instead),
        )
    }
}

const HEADER: [&str; 7] = ["move", "by", "plays", "expects", "best", "worth", "lost"];

impl Judged {
    /// How much less its seat can expect than after the best that it could do.
    fn loss(&self) -> f64 {
        self.better.as_ref().map_or(0.0, |(_, instead)| {
            (instead.mean - self.after.mean).max(0.0)
        })
    }

    /// Whether that is no accident, and not too little to matter.
    fn is_loss(&self) -> bool {
        self.better.as_ref().is_some_and(|(_, instead)| {
            self.loss() >= LEAST && self.loss() > SURE * error(&self.after, instead)
        })
    }

    fn row(&self, player: &str) -> [String; 7] {
        let Ply {
            number,
            notation,
            legal,
            ..
        } = &self.ply;
        let better = self.better.as_ref().filter(|_| self.is_loss());
        let [best, worth, lost] = match better {
            Some((best, instead)) => [
                shorten(&legal[*best], LONGEST_MOVE),
                percent(instead),
                format!("{:.0}", 100.0 * self.loss()),
            ],
            None => [const { String::new() }; 3],
        };
        [
            number.to_string(),
            shorten(player, SHORT_NAME),
            shorten(notation, LONGEST_MOVE),
            percent(&self.after),
            best,
            worth,
            lost,
        ]
    }

    fn event(&self, player: &str) -> serde_json::Value {
        let better = self.better.as_ref();
        json!({
            "type": "move", "move": self.ply.number, "seat": self.ply.seat,
            "player": player, "notation": self.ply.notation,
            "expects": self.after.mean, "error": self.after.error,
            "best": better.map(|(best, _)| &self.ply.legal[*best]),
            "would_expect": better.map(|(_, instead)| instead.mean),
            "would_error": better.map(|(_, instead)| instead.error),
        })
    }
}

/// The longest name and the longest move in a table, so that a line fits.
const SHORT_NAME: usize = 12;
const LONGEST_MOVE: usize = 14;

/// The moves of a record, each with the game as it was.
fn plies(record: &Record) -> Result<Vec<Ply>, Mismatch> {
    let mut plies: Vec<Ply> = Vec::new();
    let mut sent = PerSeat::new(record.header.players.seats(), |_| Vec::new());
    retrace(record, |step| match step {
        Retraced::Told { seat, call } => sent[seat].push(call.clone()),
        Retraced::Asked {
            sitting,
            question,
            said,
        } if question.number > 0 => {
            let legal = sitting.legal(question.seat);
            let legal: Vec<String> = legal.into_iter().map(|(notation, _)| notation).collect();
            let answered = said.notation.as_ref();
            let does = answered
                .and_then(|answered| legal.iter().position(|one| one == answered))
                .map_or(Does::Fouls, Does::Answers);
            plies.push(Ply {
                number: plies.len() + 1,
                seat: question.seat,
                notation: answered.cloned().unwrap_or_default(),
                legal,
                does,
                sitting: sitting.fork(),
                sent: sent.clone(),
            });
        }
        Retraced::Asked { .. } => {}
        Retraced::Judged {
            question,
            said,
            judgement,
        } => match (judgement, &said.heard, plies.last_mut()) {
            (Judgement::Ready(_), ..) => sent[question.seat].push(question.call.clone()),
            (Judgement::Accepted { .. }, SeatReply::Answer(answer), _) => {
                sent[question.seat].push(past(&question.call, answer));
            }
            (Judgement::Fouled(kind), _, Some(last)) => kind.words().clone_into(&mut last.notation),
            _ => {}
        },
    })?;
    Ok(plies)
}

/// The bots of the house that play a game.
fn players_of(game: &str) -> Vec<String> {
    let bots = HOUSE.iter().filter(|bot| bot.games.include(game));
    bots.map(|bot| format!("house:{}", bot.name)).collect()
}

/// The standard error of a difference.
fn error(one: &Estimate, other: &Estimate) -> f64 {
    one.error.hypot(other.error)
}

fn percent(estimate: &Estimate) -> String {
    let Estimate { mean, error } = estimate;
    format!("{:.0} ± {:.0} %", 100.0 * mean, 100.0 * error)
}
