//! `arena replay explain`: the move that turned a game, by a search from every
//! position of it. The game is over, so all hands are open.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use referee_core::{Dice, Root, Seat, Table};
use referee_games::{Hearing, Retraced, retrace};
use serde_json::json;

use super::{
    in_words,
    search::{Does, Estimate, SEARCHES, best, share},
};
use crate::{
    End, files,
    report::{event, plain_table, shorten, text, wrapped},
    run,
    tally::plural,
    usage,
    verbs::Format,
};

/// For each move what its seat could expect after it, as a share of the points (1
/// is the first place), and what its best other move was worth. Both are found by
/// searches with all hands open, which see more than any player did.
#[derive(Args)]
pub(crate) struct Explain {
    /// A record (.jsonl or .jsonl.zst).
    file: PathBuf,
    /// How many playouts each of the 8 searches of a move makes: more see further.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    playouts: u32,
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
    table: Box<dyn Table>,
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
/// accident: a deviation of a normal distribution that is as rare as 1 in 30,000.
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
        let plies =
            plies(&record).with_context(|| format!("{} does not replay", self.file.display()))?;
        let outcome = record.result.verdict.outcome().cloned();
        let mut judged = self.judge(plies, &root);
        // Who won was not turned against.
        let lost = |ply: &Ply| {
            outcome
                .as_ref()
                .is_none_or(|outcome| share(outcome, ply.seat) < 1.0)
        };
        let turned = judged
            .iter_mut()
            .filter(|one| lost(&one.ply) && one.loss() > 0.0)
            .max_by(|one, other| one.loss().total_cmp(&other.loss()))
            .and_then(|one| self.closer(one, &root));
        let players = &record.header.players;
        match self.format {
            Format::Text => {
                let rows = judged.iter().map(|one| one.row(&players[one.ply.seat]));
                plain_table(&HEADER, rows)?;
                let words = match &turned {
                    Some(turned) => turned.in_words(&players[turned.seat]),
                    None => "no single move turned it".to_owned(),
                };
                let how = format!(
                    "shares of the points, ± one standard error, by {SEARCHES} searches of {} \
                     with all hands open",
                    plural(self.playouts, "playout")
                );
                for line in [&words, &in_words(&record), &how] {
                    text(&format!(
                        "{}{}\n",
                        if *line == words { "\n" } else { "" },
                        wrapped(line)
                    ))?;
                }
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
                    "searches": SEARCHES, "playouts": self.playouts,
                }))?;
            }
        }
        Ok(End::Done)
    }

    /// Looks at every move, on all cores; what is found goes by the seed alone.
    fn judge(&self, plies: Vec<Ply>, root: &Root) -> Vec<Judged> {
        let threads = run::standard_concurrency();
        let mut shares: Vec<Vec<Ply>> = (0..threads).map(|_| Vec::new()).collect();
        for (at, ply) in plies.into_iter().enumerate() {
            shares[at % threads].push(ply);
        }
        let mut judged: Vec<Judged> = std::thread::scope(|scope| {
            let working: Vec<_> = shares
                .into_iter()
                .map(|share| {
                    scope.spawn(move || {
                        let judged = share.into_iter().map(|ply| self.judge_one(ply, root));
                        judged.collect::<Vec<_>>()
                    })
                })
                .collect();
            let done = working.into_iter().filter_map(|thread| thread.join().ok());
            done.flatten().collect()
        });
        judged.sort_by_key(|one| one.ply.number);
        judged
    }

    /// The best answer is found by searches of its own, so that what it seems to be
    /// worth was not the reason why it was picked.
    fn judge_one(&self, ply: Ply, root: &Root) -> Judged {
        let mut dice = Dice::new(&root.seed("explain", ply.number as u64));
        let table = &*ply.table;
        let (seat, legal) = (ply.seat, ply.legal.len());
        let after = Estimate::after(table, seat, ply.does, self.playouts, &mut dice);
        let better = (legal > 1 || ply.does == Does::Fouls)
            .then(|| best(table, seat, legal, self.playouts * SEARCHES / 2, &mut dice))
            .filter(|&best| ply.does != Does::Answers(best))
            .map(|best| {
                let does = Does::Answers(best);
                let instead = Estimate::after(table, seat, does, self.playouts, &mut dice);
                (best, instead)
            });
        Judged { ply, after, better }
    }

    /// Looks again, closer and with other chance, at the move that seems to have cost
    /// the most: being the first of many it may have been so by accident.
    fn closer(&self, one: &mut Judged, root: &Root) -> Option<Turned> {
        let (best, _) = one.better?;
        let Ply {
            number,
            seat,
            notation,
            legal,
            does,
            table,
        } = &one.ply;
        let mut dice = Dice::new(&root.seed("closer", *number as u64));
        let playouts = self.playouts.saturating_mul(CLOSER);
        let mut after = |does| Estimate::after(&**table, *seat, does, playouts, &mut dice);
        let (after, instead) = (after(*does), after(Does::Answers(best)));
        let turned = Turned {
            number: *number,
            seat: *seat,
            notation: notation.clone(),
            after,
            better: legal[best].clone(),
            instead,
        };
        one.after = after;
        one.better = Some((best, instead));
        one.is_loss().then_some(turned)
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
fn plies(record: &referee_core::Record) -> anyhow::Result<Vec<Ply>> {
    let mut plies: Vec<Ply> = Vec::new();
    retrace(record, |step| match step {
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
                table: sitting.table().fork(),
            });
        }
        Retraced::Heard {
            hearing: Hearing::Fouled(kind),
            ..
        } => {
            if let Some(last) = plies.last_mut() {
                kind.words().clone_into(&mut last.notation);
            }
        }
        _ => {}
    })?;
    Ok(plies)
}

/// The standard error of a difference.
fn error(one: &Estimate, other: &Estimate) -> f64 {
    one.error.hypot(other.error)
}

fn percent(estimate: &Estimate) -> String {
    let Estimate { mean, error } = estimate;
    format!("{:.0} ± {:.0} %", 100.0 * mean, 100.0 * error)
}
