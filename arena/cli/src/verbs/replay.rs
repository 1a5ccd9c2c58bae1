//! `arena replay`: steps through records and proves them.

use std::{io::Write as _, path::PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use referee_core::{Event, Record, Scene, Seat, Verdict, Watch};
use referee_games::{Moment, game, replay};
use serde_json::json;

use super::Format;
use crate::{
    End, Usage,
    draw::{self, Signs},
    files,
    report::{LONGEST_NAME, WIDTH, event, shorten, text, time, wrapped},
    tally::plural,
    usage,
};

#[derive(Subcommand)]
pub(crate) enum Replay {
    /// Show a game: its moves, its times, its board
    Show(Show),
    /// Play records again and compare: exit code 1 if one is not what it says
    Verify(Verify),
}

#[derive(Args)]
pub(crate) struct Show {
    /// A record (.jsonl or .jsonl.zst).
    file: PathBuf,
    /// Show the board after this many moves.
    #[arg(long, conflicts_with = "boards")]
    ply: Option<usize>,
    /// Show the board after every move.
    #[arg(long)]
    boards: bool,
    /// Show what this seat had been told when it was asked last (or for its
    /// move after --ply).
    #[arg(long, conflicts_with = "boards")]
    seat: Option<u8>,
    /// Draw with letters only.
    #[arg(long)]
    ascii: bool,
}

#[derive(Args)]
pub(crate) struct Verify {
    /// Records (.jsonl or .jsonl.zst).
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Replay {
    pub(crate) fn run(self) -> anyhow::Result<End> {
        match self {
            Self::Show(show) => show.run(),
            Self::Verify(verify) => verify.run(),
        }
    }
}

impl Verify {
    fn run(self) -> anyhow::Result<End> {
        let mut end = End::Done;
        for file in &self.files {
            let proved = files::read(file).and_then(|record| {
                replay(&record, |_| {})?;
                Ok(record)
            });
            match &proved {
                Err(error) if error.is::<Usage>() && end == End::Done => end = End::Usage,
                Err(error) if !error.is::<Usage>() => end = End::No,
                _ => {}
            }
            match (self.format, proved) {
                (Format::Text, Ok(record)) => {
                    text(&format!(
                        "{}: proved, {}\n",
                        file.display(),
                        in_words(&record)
                    ))?;
                }
                (Format::Text, Err(error)) => {
                    text(&format!("{}: NOT PROVED: {error:#}\n", file.display()))?;
                }
                (Format::Json, Ok(record)) => event(&json!({
                    "type": "verify", "file": file, "proved": true,
                    "game": record.header.game, "play_hash": record.play_hash(),
                }))?,
                (Format::Json, Err(error)) => event(&json!({
                    "type": "verify", "file": file, "proved": false, "why": format!("{error:#}"),
                }))?,
            }
        }
        Ok(end)
    }
}

impl Show {
    fn run(self) -> anyhow::Result<End> {
        let record = files::read(&self.file).or_else(|error| usage(format!("{error:#}")))?;
        let mut moments = Vec::new();
        let last = replay(&record, |moment| moments.push(moment))
            .with_context(|| format!("{} does not replay", self.file.display()))?;
        let signs = if self.ascii {
            Signs::Ascii
        } else {
            Signs::of_terminal()
        };
        if let Some(ply) = self.ply
            && ply > moments.len()
        {
            return usage(format!("--ply {ply}: the game has {} moves", moments.len()));
        }
        let mut out = anstream::stdout().lock();
        let knew = self
            .seat
            .map(|seat| self.knew(&record, &moments, seat))
            .transpose()?;
        heading(&mut out, &record, &last, signs)?;
        if let (Some(seat), Some(knew)) = (self.seat, knew) {
            writeln!(
                out,
                "What seat {seat} had been told:\n{}",
                draw::scene(&knew, signs)
            )?;
            return Ok(End::Done);
        }
        if let Some(ply) = self.ply {
            let scene = scene_after(&moments, &last, ply);
            let moves = plural(ply as u32, "move");
            writeln!(out, "After {moves}:\n{}", draw::scene(scene, signs))?;
            return Ok(End::Done);
        }
        for (at, moment) in moments.iter().enumerate() {
            let name = shorten(&record.header.players[moment.seat], LONGEST_NAME);
            let thought = time(moment.thought.as_micros() as u64);
            let line = format!("{:>4}  {name:<16} ", at + 1);
            // A foul has its evidence, which is told whole at the end.
            let left = WIDTH - line.chars().count() - " 1234567".len();
            let notation = shorten(&moment.notation, left);
            writeln!(out, "{line}{notation:<12} {thought:>7}")?;
            if self.boards {
                let scene = scene_after(&moments, &last, at + 1);
                writeln!(out, "{}", draw::scene(scene, signs))?;
            }
        }
        if !self.boards {
            writeln!(out, "\n{}", draw::scene(&last, signs))?;
        }
        writeln!(out, "{}", wrapped(&in_words(&record)))?;
        Ok(End::Done)
    }

    /// What a seat knew after this many moves: what it had been told by then and
    /// had answered.
    fn knew(&self, record: &Record, moments: &[Moment], seat: u8) -> anyhow::Result<Scene> {
        let seats = record.header.players.seats();
        if seat >= seats {
            return usage(format!(
                "--seat {seat}: the game has seats 0 to {}",
                seats - 1
            ));
        }
        let seat = Seat::new(seat);
        let kind = game(&record.header.game).context("it has just been replayed")?;
        // Up to the next move.
        let next = self.ply.and_then(|ply| moments.get(ply));
        let until = next.map_or(record.events.len(), |moment| moment.at);
        let mut watch: Option<Box<dyn Watch>> = None;
        for event in &record.events[..until] {
            match (event, &mut watch) {
                (Event::Asked { seat: to, call, .. }, None) if *to == seat => {
                    watch = Some(kind.watch(seat, call)?);
                }
                (
                    Event::Told { seat: to, call } | Event::Asked { seat: to, call, .. },
                    Some(watch),
                ) if *to == seat => {
                    watch.hear(call)?;
                }
                (
                    Event::Answered {
                        seat: by,
                        number,
                        answer,
                        notation: Some(_),
                        ..
                    },
                    Some(watch),
                ) if *number > 0 && *by == seat => {
                    watch.answered(answer)?;
                }
                _ => {}
            }
        }
        watch
            .map(|watch| watch.scene())
            .with_context(|| format!("seat {seat} was told nothing"))
    }
}

/// The board after this many moves.
fn scene_after<'a>(moments: &'a [Moment], last: &'a Scene, ply: usize) -> &'a Scene {
    moments.get(ply).map_or(last, |moment| &moment.before)
}

fn heading(
    out: &mut impl std::io::Write,
    record: &Record,
    last: &Scene,
    signs: Signs,
) -> anyhow::Result<()> {
    let header = &record.header;
    writeln!(out, "{}  {}", header.game, header.game_id)?;
    for (seat, name) in header.players.iter() {
        let thought = time(record.result.thought_us[seat]);
        let sign = if draw::has_discs(last) {
            format!(" ({})", signs.disc(seat))
        } else {
            String::new()
        };
        writeln!(out, "  seat {seat}{sign}  {name}, thought {thought}")?;
    }
    let notation = game(&header.game).map_or("", |kind| kind.info().notation);
    let legend = draw::legend(last, signs);
    writeln!(out, "moves are {notation}{legend}\n")?;
    Ok(())
}

/// How a game ended.
fn in_words(record: &Record) -> String {
    match &record.result.verdict {
        Verdict::Void { reason } => format!("void: {reason}"),
        Verdict::Finished { outcome, fouls } => {
            let players = &record.header.players;
            let first: Vec<_> = outcome
                .places
                .iter()
                .filter(|(_, place)| **place == 1)
                .map(|(seat, _)| players[seat].as_str())
                .collect();
            let won = match &first[..] {
                [] => "nobody won".to_owned(),
                [winner] => format!("{winner} won"),
                _ => "a draw".to_owned(),
            };
            let mut text = format!("{won}: {}", outcome.reason);
            for foul in fouls {
                text += &format!("; {}: {}", players[foul.seat], foul.foul);
            }
            text
        }
    }
}
