//! `arena replay show`: the moves of a game, its times, its boards.

use std::{io::Write as _, path::Path};

use arena_terminal::{
    FoundGame, FoundGames, GameArgs, ListedGame, MOST_LISTED, NotReplayed,
    draw::{self, Signs},
    position,
};
use arena_words::{Winner, result_with_evidence};
use clap::Args;
use referee_core::{FoulWords, Language, Record, Scene, Verdict, printable, shorten};
use referee_games::{game, game_name, replay, told_game_id};

use crate::{
    End,
    report::{LONGEST_NAME, WIDTH, fitted, line, plain_table, plural, quoted, tell, time, wrapped},
    usage,
};

#[derive(Args)]
pub(crate) struct Show {
    #[command(flatten)]
    games: GameArgs,
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
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let found = match self.games.find().await? {
            FoundGames::Folder(folder, games) => return self.list(&folder, &games),
            FoundGames::Tournament(name, games) => return self.list_stored(&name, &games),
            games @ FoundGames::Games(_) => games.one()?,
        };
        let record = found.read_typed()?;
        let mut moments = Vec::new();
        let last = replay(&record, |moment| moments.push(moment))
            .map_err(|mismatch| NotReplayed(found.name(), mismatch))?
            .scene();
        let signs = if self.ascii {
            Signs::Ascii
        } else {
            Signs::of_terminal()
        };
        let asked = position(&record, &moments, &last, self.ply, self.seat)?;
        let mut out = anstream::stdout().lock();
        heading(&mut out, &record, &last, signs)?;
        let of_what = match (self.seat, self.ply) {
            (Some(seat), _) => Some(format!("What seat {seat} had been told")),
            (None, Some(ply)) => Some(format!("After {}", plural(ply as u64, "move"))),
            (None, None) => None,
        };
        if let Some(of_what) = of_what {
            writeln!(
                out,
                "{of_what}:\n{}",
                draw::scene(&asked, signs, Language::En)
            )?;
            return Ok(End::Done);
        }
        for (at, moment) in moments.iter().enumerate() {
            let name = shorten(&record.header.players[moment.seat], LONGEST_NAME);
            let thought = time(moment.thought.as_micros() as u64);
            let line = format!("{:>4}  {name:<16} ", at + 1);
            // A foul has its evidence, which is told whole at the end.
            let left = WIDTH - line.chars().count() - " 1234567".len();
            let notation = shorten(moment.action.in_words(Language::En), left);
            writeln!(out, "{line}{notation:<12} {thought:>7}")?;
            if self.boards {
                let next = moments.get(at + 1);
                let scene = next.map_or(&last, |moment| &moment.before);
                writeln!(out, "{}", draw::scene(scene, signs, Language::En))?;
            }
        }
        if !self.boards {
            writeln!(out, "\n{}", draw::scene(&last, signs, Language::En))?;
        }
        writeln!(out, "{}", wrapped(&result_with_evidence(&record)))?;
        if let Verdict::Finished { fouls, .. } = &record.result.verdict {
            for foul in fouls {
                let printed = FoulWords::of(&foul.foul).printed;
                if !printed.is_empty() {
                    let name = &record.header.players[foul.seat];
                    write!(out, "{name} printed last:\n{}", quoted(&printed, 4))?;
                }
            }
        }
        Ok(End::Done)
    }

    /// The games of a tournament: the same of each.
    fn list_stored(&self, name: &str, games: &[ListedGame]) -> anyhow::Result<End> {
        self.expects_one(name, "a tournament")?;
        let rows = games.iter().map(|game| {
            let won = game.winner.clone().unwrap_or_else(|| "draw".to_owned());
            [
                game.name.clone(),
                game.players.join(", "),
                won,
                game.plies.to_string(),
                game.end.clone(),
            ]
        });
        table(rows.collect())?;
        if games.len() == MOST_LISTED as usize {
            line(&format!(
                "the first {MOST_LISTED} games; `arena tournament export {name} --as csv` has all"
            ))?;
        }
        let first = games.first().map(|game| &game.name);
        if let Some(first) = first {
            line(&format!("a game: arena replay show {name} {first}"))?;
        }
        Ok(End::Done)
    }

    /// Refuses what is asked of one game only.
    fn expects_one(&self, name: &str, what: &str) -> anyhow::Result<()> {
        if self.ply.is_some() || self.boards || self.seat.is_some() {
            return usage(format!(
                "{name}: expected one game with --ply, --boards and --seat, found {what}"
            ));
        }
        Ok(())
    }

    /// The games of a folder: who played, who won and how, and how long they are.
    fn list(&self, folder: &Path, games: &[FoundGame]) -> anyhow::Result<End> {
        self.expects_one(&folder.display().to_string(), "a folder")?;
        let mut rows = Vec::new();
        let mut unread = Vec::new();
        for found in games {
            match found.read() {
                Ok(record) => rows.push(listed(&record)),
                Err(error) => unread.push(printable(&format!("{error:#}"))),
            }
        }
        table(rows)?;
        for error in &unread {
            tell(&wrapped(error));
        }
        Ok(if unread.is_empty() {
            End::Done
        } else {
            End::No
        })
    }
}

/// A table of games.
fn table(rows: Vec<[String; 5]>) -> anyhow::Result<()> {
    let header = ["game", "players", "won", "plies", "end"];
    let rows = fitted(&header, rows, &[27, 16, 10, 5], 12);
    plain_table(&header, rows)
}

/// A line of the list.
fn listed(record: &Record) -> [String; 5] {
    let header = &record.header;
    let names: Vec<&str> = header
        .players
        .iter()
        .map(|(_, name)| name.as_str())
        .collect();
    let verdict = &record.result.verdict;
    let mut fouls = header
        .players
        .iter()
        .filter_map(|(seat, _)| verdict.foul(seat));
    let end = match (fouls.next(), verdict.outcome()) {
        (Some(foul), _) => foul.kind().words().to_owned(),
        (None, Some(outcome)) => outcome.reason.clone(),
        (None, None) => "void".to_owned(),
    };
    let won = match Winner::of(record) {
        Winner::Nobody => "-",
        Winner::One(winner) => winner,
        Winner::Several => "draw",
    };
    [
        header.game_id.clone(),
        names.join(", "),
        won.to_owned(),
        record.moves().count().to_string(),
        end,
    ]
}

fn heading(
    out: &mut impl std::io::Write,
    record: &Record,
    last: &Scene,
    signs: Signs,
) -> anyhow::Result<()> {
    let header = &record.header;
    writeln!(out, "{}  {}", game_name(&header.game), header.game_id)?;
    let told = game(&header.game)
        .map(|kind| told_game_id(kind, &header.seed, &header.game_id))
        .filter(|told| *told != header.game_id);
    if let Some(told) = told {
        writeln!(out, "  its bots know it as {told}")?;
    }
    for (seat, name) in header.players.iter() {
        let thought = time(record.result.thought_us[seat]);
        let sign = if draw::has_discs(last) {
            format!(" ({})", signs.disc(seat))
        } else {
            String::new()
        };
        writeln!(out, "  seat {seat}{sign}  {name}, thought {thought}")?;
    }
    let notation = game(&header.game).map_or("", |kind| kind.info().notation.english);
    let legend = draw::legend(last, signs);
    writeln!(out, "moves are {notation}{legend}\n")?;
    Ok(())
}
