//! `arena replay rerun`: puts a seat of a record to another bot, and shows what it
//! would have played.

use std::{path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::Args;
use referee::{Memory, Pool, Reanswer, RerunEnd, rerun};
use referee_core::Seat;
use referee_games::Part;
use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    End,
    entry::{Entry, Start},
    files,
    report::{self, event, shorten, text, wrapped},
    run,
    tally::plural,
    usage,
    verbs::Format,
};

/// The bot is sent what the seat was sent, and nothing that another seat knew.
/// Whatever it answers, the game goes on as it was played; a bot that remembers is
/// told by its next stream which answers were given.
#[derive(Args)]
pub(crate) struct Rerun {
    /// A record (.jsonl or .jsonl.zst).
    file: PathBuf,
    /// Whose place it takes, from 0.
    #[arg(long)]
    seat: u8,
    /// Who takes it: SPEC or NAME=SPEC.
    #[arg(long, value_name = "SPEC")]
    bot: String,
    /// What one move may take [default: what the record says].
    #[arg(long, value_parser = run::positive_duration)]
    move_limit: Option<Duration>,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What was found so far.
#[derive(Default)]
struct Found {
    asked: u32,
    same: u32,
    fouls: u32,
    first_other: Option<usize>,
    /// The first foul with its evidence.
    first_foul: Option<String>,
}

impl Rerun {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let record = files::read(&self.file).or_else(|error| usage(format!("{error:#}")))?;
        let seats = record.header.players.seats();
        if self.seat >= seats {
            return usage(format!(
                "--seat {}: the game has seats 0 to {}",
                self.seat,
                seats.saturating_sub(1)
            ));
        }
        let entry = Entry::read(&self.bot)?;
        let part = Part::of(&record, Seat::new(self.seat), self.move_limit)
            .with_context(|| format!("{} does not replay", self.file.display()))?;
        entry.must_play(part.kind.info())?;
        let memory = Memory {
            limit: None,
            gauge: None,
        };
        let start = Start::new(part.limits.start, memory, None)?;
        let bot = entry.bot(&start, 0)?;
        if self.format == Format::Text {
            let player = &record.header.players[Seat::new(self.seat)];
            let limit = humantime::format_duration(part.limits.per_move);
            let line = format!(
                "{} for {player} on seat {} of {}, {limit} a move",
                entry.name, self.seat, record.header.game_id
            );
            text(&format!("{}\n\n", wrapped(&line)))?;
            text(&row("move", "played", &entry.name, "", "time"))?;
        }
        let pool = Pool::new(1)?;
        let (each, mut answers) = mpsc::unbounded_channel();
        let mut found = Found::default();
        let shown = async {
            while let Some(answer) = answers.recv().await {
                found.add(&answer);
                self.show(&answer)?;
            }
            anyhow::Ok(())
        };
        let (end, shown) = tokio::join!(rerun(part, bot.clone(), &pool, each), shown);
        bot.stop().await;
        shown?;
        self.close(&end?, &found)
    }

    fn show(&self, answer: &Reanswer) -> anyhow::Result<()> {
        let Reanswer {
            ply,
            then,
            now,
            thought,
            limit,
        } = answer;
        match self.format {
            Format::Text => {
                let foul;
                let (does, verdict) = match now {
                    Ok(notation) if answer.is_same() => (notation, "same"),
                    Ok(notation) => (notation, "other"),
                    Err(why) => {
                        foul = why.to_string();
                        (&foul, "foul")
                    }
                };
                text(&row(
                    &ply.to_string(),
                    then.as_deref().unwrap_or("a foul"),
                    does,
                    verdict,
                    &report::time(thought.as_micros() as u64),
                ))
            }
            Format::Json => event(&json!({
                "type": "answer", "move": ply, "played": then,
                "notation": now.as_ref().ok(), "foul": now.as_ref().err(),
                "same": answer.is_same(), "thought_us": thought.as_micros() as u64,
                "limit_us": limit.as_micros() as u64,
            })),
        }
    }

    fn close(&self, end: &RerunEnd, found: &Found) -> anyhow::Result<End> {
        let stopped = match end {
            RerunEnd::Whole => None,
            RerunEnd::CanNotResume => Some(
                "the rest was not asked: the bot says that it can't be caught up in the middle \
                 of a game (can_resume in its Ready), and after another answer it would think \
                 of another game"
                    .to_owned(),
            ),
            RerunEnd::NotStarted(foul) => Some(foul.to_string()),
        };
        match self.format {
            Format::Text => {
                text(&format!("\n{}\n", wrapped(&found.in_words())))?;
                if let Some(stopped) = &stopped {
                    text(&format!("{}\n", wrapped(stopped)))?;
                }
            }
            Format::Json => event(&json!({
                "type": "rerun", "asked": found.asked, "same": found.same,
                "fouls": found.fouls, "first_difference": found.first_other,
                "stopped": stopped,
            }))?,
        }
        Ok(match end {
            RerunEnd::NotStarted(_) => End::No,
            RerunEnd::Whole | RerunEnd::CanNotResume => End::Done,
        })
    }
}

impl Found {
    fn add(&mut self, answer: &Reanswer) {
        self.asked += 1;
        if let Err(foul) = &answer.now {
            self.fouls += 1;
            self.first_foul
                .get_or_insert_with(|| format!("at move {}: {foul}", answer.ply));
        }
        if answer.is_same() {
            self.same += 1;
        } else {
            self.first_other.get_or_insert(answer.ply);
        }
    }

    fn in_words(&self) -> String {
        if self.asked == 0 {
            return "it was asked for no move".to_owned();
        }
        let first = self.first_other.map_or_else(String::new, |ply| {
            format!("; first difference at move {ply}")
        });
        let fouls = self.first_foul.as_ref().map_or_else(String::new, |first| {
            format!("; {}, the first {first}", plural(self.fouls, "foul"))
        });
        format!("{} of {} the same{first}{fouls}", self.same, self.asked)
    }
}

/// A line of the table; a foul has its evidence, cut to fit.
fn row(ply: &str, then: &str, now: &str, verdict: &str, time: &str) -> String {
    let (then, now) = (shorten(then, 18), shorten(now, 34));
    format!("{ply:>4}  {then:<18} {now:<34} {verdict:<6} {time:>7}\n")
}
