//! `arena replay show`: the moves of a game, its times, its boards.

use std::{io::Write as _, path::PathBuf};

use anyhow::Context as _;
use clap::Args;
use referee_core::{Event, Record, Scene, Seat, Watch};
use referee_games::{Moment, game, replay};

use super::in_words;
use crate::{
    End,
    draw::{self, Signs},
    files,
    report::{LONGEST_NAME, WIDTH, shorten, time, wrapped},
    tally::plural,
    usage,
};

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

impl Show {
    pub(super) fn run(self) -> anyhow::Result<End> {
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
