//! `arena replay rerun`: puts a seat of a record to another bot, and shows what it
//! would have played.

use std::time::Duration;

use anyhow::Context as _;
use arena_events::{
    Event,
    replay::{RerunAnswerEvent, RerunEvent, RerunOutcome},
};
use arena_review::{RerunReport, RerunRequest, ReviewError, rerun};
use arena_terminal::{Format, GameArgs, NotReplayed};
use arena_tournament::{events, parse_limit};
use clap::Args;
use referee::{Pool, Reanswer, RerunEnd};
use referee_bots::Entry;
use referee_cli::LaunchArgs;
use referee_core::{Seat, shorten};
use referee_games::game;

use crate::{
    End,
    bots::schemes,
    report::{self, event, line, plural, text},
    usage,
};

/// The bot is sent what the seat was sent, and nothing that another seat knew.
/// Whatever it answers, the game goes on as it was played; a bot that remembers is
/// told by its next stream which answers were given.
#[derive(Args)]
pub(crate) struct Rerun {
    #[command(flatten)]
    game: GameArgs,
    /// The seat that the bot takes, from 0.
    #[arg(long)]
    seat: u8,
    /// The bot: SPEC or NAME=SPEC.
    #[arg(long, value_name = "SPEC")]
    bot: String,
    /// The time limit for one move [default: the limit in the record].
    #[arg(long, value_parser = parse_limit)]
    move_limit: Option<Duration>,
    #[command(flatten)]
    launch: LaunchArgs,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Rerun {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let found = self.game.one().await?;
        let record = found.read_typed()?;
        let seats = record.header.players.seats();
        if self.seat >= seats {
            return usage(format!(
                "--seat {}: the game has seats 0 to {}",
                self.seat,
                seats.saturating_sub(1)
            ));
        }
        let directory = std::env::current_dir().context("the folder of this process is gone")?;
        let entry = Entry::read(&self.bot, &schemes()?)?;
        if let Some(kind) = game(&record.header.game) {
            entry.check_game(kind.info(), &directory)?;
        }
        let request = RerunRequest {
            record: &record,
            seat: Seat::new(self.seat),
            bot: &entry,
            move_limit: self.move_limit,
        };
        if self.format == Format::Text {
            self.heading(&request)?;
        }
        let sandbox = self.launch.around([&entry], [])?;
        referee_cli::sandbox::note(sandbox.as_ref());
        let context = self.launch.options(sandbox)?.open(directory)?;
        let pool = Pool::new(1)?;
        let mut shown = Ok(());
        let each = |answer: &Reanswer| {
            if shown.is_ok() {
                shown = self.show(answer);
            }
        };
        let report = match rerun(request, &context, &pool, each).await {
            Err(ReviewError::Mismatch(mismatch)) => {
                return Err(NotReplayed(found.name(), mismatch).into());
            }
            report => report?,
        };
        shown?;
        self.close(&entry, &report)
    }

    fn heading(&self, request: &RerunRequest<'_>) -> anyhow::Result<()> {
        let header = &request.record.header;
        let limit = self.move_limit.unwrap_or(header.limits.per_move);
        line(&format!(
            "{} for {} on seat {} of {}, {} a move",
            request.bot.name,
            header.players[request.seat],
            self.seat,
            header.game_id,
            humantime::format_duration(limit)
        ))?;
        text("\n")?;
        text(&row("move", "played", &request.bot.name, "", "time"))
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
            Format::Json => event(Event::RerunAnswer(RerunAnswerEvent {
                number: *ply as u64,
                played: then.clone(),
                notation: now.as_ref().ok().cloned(),
                foul: now.as_ref().err().map(events::evidence),
                same: answer.is_same(),
                thought_us: events::us(*thought),
                limit_us: events::us(*limit),
            })),
        }
    }

    fn close(&self, entry: &Entry, report: &RerunReport) -> anyhow::Result<End> {
        match self.format {
            Format::Text => {
                text("\n")?;
                line(&in_words(report))?;
                if let Some(stopped) = stopped(&report.end) {
                    line(&stopped)?;
                }
            }
            Format::Json => event(Event::Rerun(RerunEvent {
                bot: entry.name.clone(),
                seat: self.seat,
                end: match &report.end {
                    RerunEnd::Whole => RerunOutcome::Completed,
                    RerunEnd::CanNotResume => RerunOutcome::CanNotResume,
                    RerunEnd::NotStarted(foul) => RerunOutcome::NotStarted {
                        foul: events::evidence(foul),
                    },
                },
                asked: report.asked as u64,
                same: report.same as u64,
                fouls: report.fouls as u64,
                first_difference: report.first_difference.map(|ply| ply as u64),
            }))?,
        }
        Ok(match report.end {
            RerunEnd::NotStarted(_) => End::No,
            RerunEnd::Whole | RerunEnd::CanNotResume => End::Done,
        })
    }
}

/// Reason why the bot was not asked for the rest.
fn stopped(end: &RerunEnd) -> Option<String> {
    match end {
        RerunEnd::Whole => None,
        RerunEnd::CanNotResume => Some(
            "the rest was not asked: the bot says that it can't be resumed in the middle of a \
             game (can_resume in its Ready), and after another answer it would think of another \
             game"
                .to_owned(),
        ),
        RerunEnd::NotStarted(foul) => Some(foul.to_string()),
    }
}

fn in_words(report: &RerunReport) -> String {
    if report.asked == 0 {
        return "it was asked for no move".to_owned();
    }
    let mut words = format!("{} of {} the same", report.same, report.asked);
    if let Some(ply) = report.first_difference {
        words += &format!("; first difference at move {ply}");
    }
    if let Some((ply, foul)) = &report.first_foul {
        let fouls = plural(report.fouls as u64, "foul");
        words += &format!("; {fouls}, the first at move {ply}: {foul}");
    }
    words
}

/// A line of the table; a foul has its evidence, cut to fit.
fn row(ply: &str, then: &str, now: &str, verdict: &str, time: &str) -> String {
    let (then, now) = (shorten(then, 18), shorten(now, 34));
    format!("{ply:>4}  {then:<18} {now:<34} {verdict:<6} {time:>7}\n")
}
