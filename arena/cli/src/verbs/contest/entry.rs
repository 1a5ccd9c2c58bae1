//! `arena contest entry`: one entry of the store of this machine, or of an arena elsewhere, and the
//! words in which entries are printed.

use anyhow::Context as _;
use arena_contest::{
    ContestEntry, ContestGame, EntryExplanation, EntryGame, Fault, GameOfEntry, Viewer,
};
use arena_events::replay::ExplainedEvent;
use arena_review::explain_seat;
use arena_store::{DetailsOf, EntryState, Store};
use arena_terminal::{Format, StoreAt};
use clap::Args;
use referee_core::{Record, Seat, printable, shorten};

use super::{Opened, count, elsewhere::ArenaAt, told};
use crate::{End, report, usage, verbs::replay::analyst};

#[derive(Args)]
pub(crate) struct OfEntry {
    /// The contest's name.
    contest: String,
    /// The entry's number.
    entry: u64,
    /// One of its games, as the entry shows it (3, 12.3 or final.3): how it ended, what each move of the
    /// bot was worth by what it knew, and what it printed.
    #[arg(long, value_name = "GAME")]
    game: Option<GameOfEntry>,
    #[command(flatten)]
    arena: ArenaAt,
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output: text, or the entry as the API has it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl OfEntry {
    pub(super) async fn show(self) -> anyhow::Result<End> {
        if let Some(elsewhere) = self.arena.open(&self.contest)? {
            return match self.game {
                Some(game) => elsewhere.show_game(self.entry, game, self.format).await,
                None => elsewhere.show(self.entry, self.format).await,
            };
        }
        let opened = Opened::new(&self.store, &self.contest).await?;
        let (standing, viewer) = (&opened.standing, Viewer::Organiser);
        let entry = opened.entry(self.entry)?;
        let of = DetailsOf::Entry(entry.number);
        let details = standing.details(&opened.store, of, viewer);
        let details = told(details.await)?.remove(&entry.number);
        let rounds = told(standing.rounds(&opened.store, entry, viewer).await)?;
        let entry_told = ContestEntry {
            rounds: standing.told_rounds(&rounds, viewer),
            ..standing.told(entry, details.unwrap_or_default(), viewer)
        };
        if let Some(which) = self.game {
            let game = standing.game(&opened.store, entry, which, viewer);
            let Some(game) = told(game.await)? else {
                return usage(format!(
                    "there is no game {which}; `arena contest entry {} {}` shows them",
                    self.contest, self.entry
                ));
            };
            let told_game = ToldGame {
                game: which.to_string(),
                explanation: explained(&opened.store, &game).await,
                log: told(standing.log(&opened.store, &game).await)?.unwrap_or_default(),
            };
            told_game.show(&entry_told, self.format)?;
            opened.store.close().await;
            return Ok(End::Done);
        }
        match self.format {
            Format::Json => json(&serde_json::to_string(&entry_told)?)?,
            Format::Text => {
                report::heading(&headline(&entry_told))?;
                let outcome = standing.outcome(entry, viewer).unwrap_or_default();
                if let Some(why) = outcome.ours {
                    report::line(&format!("our own failure: {}", printable(&why)))?;
                }
                show_details(&entry_told)?;
            }
        }
        opened.store.close().await;
        Ok(End::Done)
    }
}

/// What the moves of an entry in a game were worth, or why that is not known.
async fn explained(store: &Store, game: &EntryGame) -> Result<EntryExplanation, String> {
    let found = async {
        let played = &game.played;
        let tournament = store.tournament(&played.tournament).await?;
        let tournament = tournament.context("its tournament is gone")?;
        let text = store.record(tournament.id, played.group, played.seating);
        let text = text.await?.context("its record is gone")?;
        let mut record = Record::parse(&text)?.printable();
        game.name_players(&mut record);
        let (spec, bot) = analyst(&record)?.context("no bot judges this game")?;
        let (seat, threads) = (Seat::new(played.seat), referee::core_count());
        let (moves, explanation) = explain_seat(&record, seat, (spec, &bot), threads)?;
        Ok::<_, anyhow::Error>(EntryExplanation { moves, explanation })
    };
    found.await.map_err(|error| format!("{error:#}"))
}

/// A game of an entry for who reads about it.
pub(super) struct ToldGame {
    /// Its number among the games of the entry.
    pub(super) game: String,
    /// What its moves were worth, or why that is not known.
    pub(super) explanation: Result<EntryExplanation, String>,
    /// What its bot printed.
    pub(super) log: String,
}

impl ToldGame {
    /// Prints it.
    pub(super) fn show(&self, entry: &ContestEntry, format: Format) -> anyhow::Result<()> {
        let Self {
            game,
            explanation,
            log,
        } = self;
        let of_exam = entry.games.iter().find(|one| one.game.to_string() == *game);
        let of_round = entry.rounds.iter().find(|one| one.game == *game);
        if format == Format::Json {
            let told = serde_json::json!({
                "game": match (of_exam, of_round) {
                    (Some(game), _) => serde_json::to_value(game)?,
                    (None, round) => serde_json::to_value(round)?,
                },
                "explanation": explanation.as_ref().ok(),
                "log": log,
            });
            return json(&told.to_string());
        }
        let (headline, foul) = match (of_exam, of_round) {
            (Some(one), _) => (
                format!(
                    ": {} against {}, {} moves",
                    one.words, one.opponent, one.plies
                ),
                one.foul.as_deref(),
            ),
            (None, Some(one)) => (
                format!(
                    ": {} against {}, {} moves",
                    one.words,
                    one.opponents.join(", "),
                    one.plies
                ),
                one.foul.as_deref(),
            ),
            (None, None) => (String::new(), None),
        };
        report::heading(&format!("game {game}{}", printable(&headline)))?;
        if let Some(foul) = foul {
            report::line(&printable(foul))?;
        }
        match explanation {
            Ok(explanation) => show_explanation(explanation)?,
            Err(why) => report::note(&format!("not explained: {}", printable(why))),
        }
        report::heading("log")?;
        if log.is_empty() {
            report::line("nothing, or it is not kept any more")?;
        }
        for line in log.lines() {
            report::text(&format!("{}\n", printable(line)))?;
        }
        Ok(())
    }
}

fn show_explanation(explained: &EntryExplanation) -> anyhow::Result<()> {
    /// A better move that was worth so much more of the points is shown.
    const LOSS: f64 = 0.05;
    const LONGEST_MOVE: usize = 14;
    let EntryExplanation { moves, explanation } = explained;
    let percent = |score: f64| format!("{:.0} %", 100.0 * score);
    let played = |one: &ExplainedEvent| {
        let notation = one.notation.as_deref().unwrap_or("a foul");
        shorten(&printable(notation), LONGEST_MOVE)
    };
    let rows = moves.iter().map(|one| {
        let better = one.better.as_ref();
        let better = better.filter(|better| better.expects.score - one.expects.score >= LOSS);
        [
            one.number.to_string(),
            played(one),
            percent(one.expects.score),
            better.map_or_else(String::new, |better| {
                shorten(&printable(&better.notation), LONGEST_MOVE)
            }),
            better.map_or_else(String::new, |better| percent(better.expects.score)),
        ]
    });
    report::heading("what its moves were worth")?;
    report::plain_table(&["move", "plays", "expects", "best", "worth"], rows)?;
    let turned = explanation.turning_point.as_ref();
    let turned = turned.and_then(|one| Some((one, one.better.as_ref()?)));
    report::line(&turned.map_or_else(
        || "no single move turned it".to_owned(),
        |(one, better)| {
            format!(
                "move {} turned the game: {} could expect {}; {} was worth {}",
                one.number,
                played(one),
                percent(one.expects.score),
                printable(&better.notation),
                percent(better.expects.score)
            )
        },
    ))?;
    let bot = explanation.bot.as_deref().unwrap_or_default();
    report::line(&format!(
        "shares of the points, as {} estimates them from what its seat knew",
        printable(bot)
    ))
}

/// An entry as the API has it.
pub(super) fn json(text: &str) -> anyhow::Result<()> {
    report::text(&format!("{}\n", text.trim_end()))
}

/// The state of an entry, in a sentence.
pub(super) fn headline(entry: &ContestEntry) -> String {
    let (number, result) = (entry.entry, result(entry));
    match (entry.state, entry.ahead) {
        (EntryState::Received, Some(0)) => format!("entry {number} waits and is next"),
        (EntryState::Received, _) => format!("entry {number} waits, {result}"),
        (EntryState::Building, _) => format!("entry {number} is being built"),
        (EntryState::Playing, None | Some(0)) => format!("entry {number} plays its exam"),
        (EntryState::Playing, Some(_)) => format!("entry {number} plays its exam, {result}"),
        (EntryState::Judged, _) => format!("entry {number} is judged: {result}"),
        (EntryState::Failed, _) => format!("entry {number} has failed: {result}"),
        (EntryState::Settled, _) => format!("entry {number} is settled: {result}"),
    }
}

/// What came of an entry, in few words.
pub(super) fn result(entry: &ContestEntry) -> String {
    match (&entry.fault, entry.score, entry.passed, entry.ahead) {
        (Some(fault), ..) => printable(&fault.verdict),
        (None, Some(score), Some([passed, of]), _) => {
            format!("{score} points, {passed} of {of} cases passed")
        }
        (None, Some(score), None, _) => format!("{score} points"),
        (None, None, _, Some(0)) => "next".to_owned(),
        (None, None, _, Some(ahead)) => {
            format!("{} before it", count(ahead as u64, "entry", "entries"))
        }
        (None, None, _, None) => "told when the contest is published".to_owned(),
    }
}

/// All that is known of an entry, below its headline.
pub(super) fn show_details(entry: &ContestEntry) -> anyhow::Result<()> {
    let ContestEntry {
        fault,
        log,
        findings,
        games,
        rounds,
        ..
    } = entry;
    if let Some(Fault { words, .. }) = fault {
        report::line(&printable(words))?;
    }
    if !log.is_empty() {
        report::heading("build")?;
        for line in log.lines() {
            report::line(&printable(line))?;
        }
    }
    for found in findings {
        let severity = match found.is_fault {
            true => "fault",
            false => "warning",
        };
        report::heading(&format!("check: {severity} {}", printable(&found.name)))?;
        for (what, words) in [
            ("seen", &found.seen),
            ("expected", &found.expected),
            ("fix", &found.fix),
        ] {
            report::line(&format!("{what}: {}", printable(words)))?;
        }
    }
    let first = games.iter().find_map(|game| game.foul.as_deref());
    if let Some(foul) = first.filter(|foul| **foul != in_short(foul)) {
        report::heading("the first foul")?;
        report::line(&printable(foul))?;
    }
    if !games.is_empty() {
        show_exam(games)?;
    }
    if rounds.is_empty() {
        return Ok(());
    }
    report::heading("league and final")?;
    let rows = rounds.iter().map(|game| {
        [
            printable(&game.game),
            printable(&game.opponents.join(", ")),
            seat(game.seat),
            printable(&game.words),
            game.plies.to_string(),
            game.foul.as_deref().map(in_short).unwrap_or_default(),
        ]
    });
    report::plain_table(
        &["game", "opponent", "seat", "verdict", "moves", "why"],
        rows,
    )
}

/// A seat in words, as in a game of two.
fn seat(seat: u8) -> String {
    match seat {
        0 => "first".to_owned(),
        1 => "second".to_owned(),
        seat => (seat + 1).to_string(),
    }
}

fn show_exam(games: &[ContestGame]) -> anyhow::Result<()> {
    let rows = games.iter().map(|game| {
        [
            game.game.to_string(),
            printable(&game.part_words),
            printable(&game.opponent),
            seat(game.seat),
            printable(&game.words),
            game.points.to_string(),
            game.plies.to_string(),
            game.foul.as_deref().map(in_short).unwrap_or_default(),
        ]
    });
    let header = [
        "game", "part", "opponent", "seat", "verdict", "points", "moves", "why",
    ];
    report::plain_table(&header, rows)
}

/// A foul for a row of a table.
fn in_short(foul: &str) -> String {
    shorten(&printable(foul), 60)
}
