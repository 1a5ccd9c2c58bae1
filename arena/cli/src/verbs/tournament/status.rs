//! `arena tournament status` and `list`: how far tournaments have come.

use std::{cmp::Reverse, collections::BTreeMap};

use arena_events::{
    Event,
    run::RunEndedEvent,
    tournament::{TournamentEvent, TournamentState as State},
};
use arena_ladder::HalfPoints;
use arena_store::{Cure, Store, Tournament, TournamentState};
use arena_terminal::{Format, SeenOfRun, StoreAt};
use arena_tournament::{Definition, RunEnd, Snapshot, StoredResults, events};
use clap::Args;
use referee_core::{Root, shorten};
use referee_games::game_name;

use super::run::schedule_event;
use crate::{
    End,
    play::{exit_code, run_ended},
    report, show, usage,
};

/// With less room than this the store may not take the games of a commit.
const LITTLE_ROOM: u64 = 1 << 20;

#[derive(Args)]
#[command(after_help = "Examples:
  arena tournament status spring
  arena tournament status class-2026-10-05 class-2026-10-12 class-2026-10-19")]
pub(crate) struct Status {
    /// Its name; of several tournaments, the points of each bot in all of them.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Show every match of the schedule too; of one tournament.
    #[arg(long)]
    schedule: bool,
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// A stored tournament that is shown.
pub(super) struct Shown {
    pub(super) tournament: Tournament,
    pub(super) snapshot: Snapshot,
    /// True if an arena plays it now.
    is_claimed: bool,
    /// Number of bytes that are left on the disk of the store.
    room: Option<u64>,
}

impl Shown {
    pub(super) async fn of(store: &Store, tournament: Tournament) -> anyhow::Result<Self> {
        let results = StoredResults::of(store, tournament.id);
        let definition = Definition::of(&tournament)?;
        let names = tournament
            .entrants
            .iter()
            .map(|entrant| entrant.name.clone());
        let root = tournament.root.as_ref();
        let snapshot = Snapshot::of(&results, &definition, names.collect(), root).await?;
        Ok(Self {
            snapshot,
            is_claimed: store.is_claimed(tournament.id).await?,
            room: store.room(),
            tournament,
        })
    }

    /// The end of a run of it, for programs.
    pub(super) fn ended(&self, seen: &SeenOfRun, end: RunEnd) -> RunEndedEvent {
        let root = self.tournament.root.as_ref();
        RunEndedEvent {
            root: root.filter(|_| end == RunEnd::Complete).map(Root::reveal),
            ..run_ended(&self.snapshot, seen, end)
        }
    }

    /// Its table, and what belongs to it.
    pub(super) fn show(&self, format: Format) -> anyhow::Result<()> {
        match format {
            Format::Json => {
                let stored = events::StoredRun {
                    tournament: &self.tournament,
                    is_claimed: self.is_claimed,
                };
                let bots = self.tournament.entrants.iter().map(events::entrant);
                let standings = self.snapshot.standings_event(Some(&stored), bots.collect());
                report::event(standings)?;
                report::event(self.snapshot.figures_event(Some(&self.tournament.name)))
            }
            Format::Text => report::text(&show::standings(&self.snapshot)),
        }
    }

    /// Prints the warnings, on standard error.
    pub(super) fn warn(&self) {
        let name = &self.tournament.name;
        show::warnings(&self.snapshot, |first| {
            format!("{name} {}.{}", first.group, first.seating)
        });
    }

    pub(super) fn exit_code(&self) -> End {
        match self.tournament.state {
            TournamentState::Over => exit_code(&self.snapshot, RunEnd::Complete),
            _ => End::Done,
        }
    }

    /// Its progress and its leader, in a line.
    pub(super) fn in_a_line(&self) -> String {
        let snapshot = &self.snapshot;
        let planned = snapshot.count.planned_groups;
        let planned = planned.map_or_else(String::new, |planned| format!(" of {planned}"));
        let state = events::state(self.tournament.state, self.is_claimed, self.tournament.wish);
        let ahead = snapshot.standings.rows.iter().take(3).filter_map(|row| {
            let score = row.score? * 100.0;
            Some(format!("{} {score:.1} %", snapshot.name(row.entrant)))
        });
        format!(
            "{}: {}, {} games, {}{planned} deals: {}",
            self.tournament.name,
            word(state),
            snapshot.count.games,
            snapshot.count.groups,
            ahead.collect::<Vec<_>>().join(", ")
        )
    }

    /// Its name and its progress.
    pub(super) fn introduction(&self) -> String {
        let (tournament, snapshot) = (&self.tournament, &self.snapshot);
        let state = events::state(tournament.state, self.is_claimed, tournament.wish);
        let about = match snapshot.definition.breaks_ties() {
            true => "about",
            false => "at most",
        };
        let of = |planned: u64| format!(" of {about} {planned}");
        let mut lines = vec![format!(
            "{}: {}, {} bots, {}, {}{} deals",
            tournament.name,
            snapshot.kind.info().title,
            snapshot.names.len(),
            word(state),
            snapshot.count.groups,
            snapshot.count.planned_groups.map_or_else(String::new, of),
        )];
        if state == State::Interrupted {
            lines.push(format!(
                "the arena that played it was killed; `arena tournament resume {}` goes on with it",
                tournament.name
            ));
        }
        // Where there is no room, nobody could write it.
        let little = self.room.filter(|room| *room < LITTLE_ROOM);
        if let Some(room) = little.filter(|_| !tournament.state.is_final()) {
            let (what, room) = (Cure::Room.words(), room >> 10);
            lines.push(format!("it waits for {what}: {room} KiB are left"));
        } else if let Some(waits) = &tournament.waits {
            lines.push(format!("it waits for {waits}"));
        } else if state == State::Queued {
            lines.push("it waits for `arena serve` on this store".to_owned());
        }
        lines.push(format!("begun {}", show::date(tournament.created_unix_ms)));
        let lines = lines.iter().map(|line| report::wrapped(line) + "\n");
        lines.collect::<String>() + "\n"
    }

    /// The root that its deals come from.
    fn root(&self) -> anyhow::Result<()> {
        match self.tournament.reproduction {
            true => report::text("\na reproduction: its seed was typed\n"),
            false => report::text(&format!(
                "\nsha256 of the secret root:\n  {}\n",
                self.tournament.commitment
            )),
        }
    }
}

impl Status {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        if self.schedule && self.names.len() > 1 {
            return usage("--schedule shows the matches of one tournament: name one");
        }
        let mut all = Vec::new();
        for name in &self.names {
            let (store, tournament) = self.store.find(name).await?;
            all.push(Shown::of(&store, tournament).await?);
        }
        if self.format == Format::Json {
            all.iter().try_for_each(|shown| shown.show(self.format))?;
            let shown = all.iter().filter(|_| self.schedule);
            for Shown {
                tournament,
                snapshot,
                ..
            } in shown
            {
                // A schedule that a root decides that is not public has none.
                if let Some(schedule) = &snapshot.schedule {
                    let names = snapshot.names.clone();
                    let definition = &snapshot.definition;
                    let event = schedule_event(&tournament.name, definition, &**schedule, names)?;
                    report::event(Event::Schedule(event))?;
                }
            }
            return Ok(End::Done);
        }
        let [shown] = &all[..] else {
            return together(&all).map(|()| End::Done);
        };
        report::text(&shown.introduction())?;
        shown.show(self.format)?;
        show::figures(&shown.snapshot)?;
        if self.schedule {
            match &shown.snapshot.schedule {
                Some(schedule) => show::schedule(&**schedule, &shown.snapshot.names)?,
                None => report::text("\nthe schedule can't be shown before the root is public\n")?,
            }
        }
        shown.root()?;
        shown.warn();
        Ok(End::Done)
    }
}

/// Prints the points of each bot, by its name, in each of several tournaments and in all.
fn together(all: &[Shown]) -> anyhow::Result<()> {
    let mut bots: BTreeMap<&str, (Vec<Option<HalfPoints>>, u64)> = BTreeMap::new();
    for (at, shown) in all.iter().enumerate() {
        for row in &shown.snapshot.standings.rows {
            let bot = bots.entry(shown.snapshot.name(row.entrant));
            let (points, games) = bot.or_insert_with(|| (vec![None; all.len()], 0));
            points[at] = Some(row.points);
            *games += row.games;
        }
    }
    let sum = |points: &[Option<HalfPoints>]| -> u64 {
        points.iter().flatten().map(|half| u64::from(half.0)).sum()
    };
    let mut bots: Vec<_> = bots.into_iter().collect();
    bots.sort_by_key(|(name, (points, _))| (Reverse(sum(points)), *name));
    let sums: Vec<u64> = bots.iter().map(|(_, (points, _))| sum(points)).collect();
    let half = |points: u64| show::number(points as f64 / 2.0);
    let mut header = vec!["#".to_owned(), "bot".to_owned()];
    let names = all.iter().map(|shown| shorten(&shown.tournament.name, 12));
    header.extend(names.chain(["games".to_owned(), "points".to_owned()]));
    let mut rows = Vec::new();
    let ranked = report::shared_ranks(&sums).into_iter().zip(sums);
    for ((rank, sum), (name, (points, games))) in ranked.zip(&bots) {
        let mut row = vec![rank.to_string(), shorten(name, report::LONGEST_NAME)];
        let each = points.iter().map(|points| match points {
            Some(points) => half(points.0.into()),
            None => "-".to_owned(),
        });
        row.extend(each.chain([games.to_string(), half(sum)]));
        rows.push(row);
    }
    let lines = |header: &[String], rows: &[Vec<String>]| {
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        report::table_lines(&header, rows.to_vec(), |column| column != 1)
    };
    let mut table = lines(&header, &rows);
    let is_too_wide = |line: &String| line.chars().count() > report::WIDTH;
    if table.iter().any(is_too_wide) {
        // Without those of each tournament, which `status` of one of them shows.
        for row in std::iter::once(&mut header).chain(&mut rows) {
            row.drain(2..2 + all.len());
        }
        table = lines(&header, &rows);
    }
    report::text(&format!("{}\n", table.join("\n")))
}

impl List {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let store = self.store.open_existing().await?;
        let mut rows = Vec::new();
        for one in store.tournaments().await? {
            let state = events::state(one.state, store.is_claimed(one.id).await?, one.wish);
            match self.format {
                Format::Json => report::event(Event::Tournament(TournamentEvent {
                    tournament: one.name,
                    game: game_name(&one.game),
                    state,
                    created_unix_ms: one.created_unix_ms,
                    games: one.games,
                }))?,
                Format::Text => rows.push([
                    shorten(&one.name, 28),
                    game_name(&one.game),
                    word(state).to_owned(),
                    one.games.to_string(),
                    show::date(one.created_unix_ms),
                ]),
            }
        }
        if self.format == Format::Text && rows.is_empty() {
            report::text("no tournament yet; `arena tournament run FILE.toml` plays one\n")?;
        } else if self.format == Format::Text {
            report::plain_table(&["name", "game", "state", "games", "begun"], rows)?;
        }
        Ok(End::Done)
    }
}

/// State of a tournament, in a word.
const fn word(state: State) -> &'static str {
    match state {
        State::Created => "created",
        State::Running => "running",
        State::Queued => "queued",
        State::Paused => "paused",
        State::Stopped => "stopped",
        State::Interrupted => "interrupted",
        State::Over => "over",
        State::Cancelled => "cancelled",
    }
}
