//! Shows a run while it goes on: progress on a terminal, notes on standard error, events
//! on standard output, metrics. The engine tells it what happens and knows nothing of it.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use arena_events::{
    Event,
    run::{StopCause, StoppingEvent},
};
use arena_tournament::{EndedGame, Observer, Plan, RunEvent, events};
use indicatif::ProgressBar;
use parking_lot::Mutex;
use referee_bots::{Entry, hint_for};
use referee_core::FoulWords;
use referee_sandbox::Walls;
use referee_worker::Stop;

use crate::{hints, metrics, report, show};

/// Takes a game that has ended, and says what it is for programs.
pub type GameEvent = Box<dyn Fn(&EndedGame) -> Event + Send + Sync>;

/// Shows one run.
pub struct Reporter {
    /// The tournament's name, where it has one.
    tournament: Option<String>,
    game: String,
    bots: Vec<Entry>,
    /// Folder in which the bots are run.
    directory: PathBuf,
    /// Walls around those of them that are somebody's programs, where they are known.
    walls: Option<Walls>,
    /// True if events are printed.
    events: bool,
    /// The event of a game for programs, where that is not the usual one.
    of_game: Option<GameEvent>,
    is_silent: bool,
    stop: Stop,
    bar: OnceLock<ProgressBar>,
    /// Number of moves that this run has made.
    moves: Arc<AtomicU64>,
    seen: Mutex<SeenOfRun>,
}

/// Facts that have been seen of a run.
#[derive(Default)]
pub struct SeenOfRun {
    /// Number of games that this run has played.
    pub games: u64,
    /// The first game with a foul of each bot: its record, or else its id.
    pub first_fouls: BTreeMap<String, String>,
    /// True if the run's time is used up.
    pub is_timed_out: bool,
    /// Reason why an event could not be printed.
    failed: Option<anyhow::Error>,
}

impl Reporter {
    /// Shows a run of this game; `events` says whether events are printed.
    pub fn new(game: &str, tournament: Option<&str>, events: bool, stop: &Stop) -> Self {
        Self {
            tournament: tournament.map(str::to_owned),
            game: game.to_owned(),
            bots: Vec::new(),
            directory: PathBuf::new(),
            walls: None,
            events,
            of_game: None,
            is_silent: false,
            stop: stop.clone(),
            bar: OnceLock::new(),
            moves: Arc::default(),
            seen: Mutex::default(),
        }
    }

    /// The same; it says what the authors of these bots may have overlooked. `walls` are those
    /// around bots that are somebody's programs, where they are known.
    pub fn with_bots(mut self, plan: &Plan, walls: Option<&Walls>) -> Self {
        self.bots = plan.bots.iter().map(|bot| bot.entry.clone()).collect();
        self.directory.clone_from(&plan.definition.directory);
        self.walls = walls.cloned();
        self
    }

    /// The same; every game goes to `of_game`, whether its event is printed or not.
    pub fn with_game_event(mut self, of_game: GameEvent) -> Self {
        self.of_game = Some(of_game);
        self
    }

    /// The same without a progress bar.
    pub fn without_bar(self) -> Self {
        let _ = self.bar.set(ProgressBar::hidden());
        self
    }

    /// The same without a word on standard error.
    pub fn silent(mut self) -> Self {
        self.is_silent = true;
        self
    }

    /// Ends the progress bar and gives what has been seen.
    ///
    /// # Errors
    ///
    /// An event could not be printed.
    pub fn finish(&self) -> anyhow::Result<SeenOfRun> {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
        let mut seen = std::mem::take(&mut *self.seen.lock());
        match seen.failed.take() {
            Some(error) => Err(error),
            None => Ok(seen),
        }
    }

    /// Prints an event, if events are printed. Where nobody reads them any more, the
    /// run is stopped.
    fn print(&self, event: impl FnOnce() -> Event) {
        if !self.events || self.seen.lock().failed.is_some() {
            return;
        }
        if let Err(error) = report::event(event()) {
            self.seen.lock().failed = Some(error);
            // A tournament is worth more than its reader.
            if self.tournament.is_none() {
                self.stop.cut_off();
            }
        }
    }

    /// Prints a note without disturbing the progress bar.
    fn note(&self, words: &str) {
        self.note_with_lines(words, &[]);
    }

    fn note_with_lines(&self, words: &str, lines: &[String]) {
        if self.is_silent {
            return;
        }
        let note = || report::note_with_lines(words, lines);
        match self.bar.get() {
            Some(bar) => bar.suspend(note),
            None => note(),
        }
    }
}

impl Observer for Reporter {
    fn event(&self, event: RunEvent<'_>) {
        let tournament = self.tournament.as_deref();
        match event {
            RunEvent::Begun {
                done,
                planned,
                games_in_group,
            } => {
                let left = planned.map(|planned| planned.saturating_sub(done) * games_in_group);
                self.bar
                    .get_or_init(|| report::progress(left, Some(self.moves.clone())));
            }
            RunEvent::Leased { waited } => metrics::waited(waited),
            RunEvent::Counted => {
                self.seen.lock().games += 1;
                if let Some(bar) = self.bar.get() {
                    bar.inc(1);
                }
            }
            RunEvent::Game(game) => {
                metrics::game(&self.game, game);
                match &self.of_game {
                    None => self.print(|| events::game(game, tournament)),
                    Some(of) => {
                        let event = of(game);
                        self.print(|| event);
                    }
                }
            }
            RunEvent::FirstFoul(foul) => {
                let game = foul.game;
                let key = format!("{}.{}", game.row.group, game.row.seating);
                let lies = match (&game.record, tournament) {
                    (Some(record), _) => record.display().to_string(),
                    (None, Some(tournament)) => format!("{tournament} {key}"),
                    (None, None) => game.game_id.clone(),
                };
                self.print(|| events::first_foul(&foul, tournament));
                let bot = foul.bot;
                let foul = &foul.foul.foul;
                let FoulWords { sentence, printed } = FoulWords::of(foul);
                self.note_with_lines(&format!("{bot}: {sentence}, in {lies}"), &printed);
                if let Some(entry) = self.bots.iter().find(|entry| entry.name == bot) {
                    // The walls of a worker elsewhere are not known.
                    let walls = self.walls.as_ref().filter(|_| game.row.worker.is_none());
                    let hint = hint_for(foul, entry, &self.directory, walls);
                    if let Some(advice) = hints::advice(hint.as_ref(), foul, entry) {
                        self.note(&advice);
                    }
                }
                self.seen.lock().first_fouls.insert(bot.to_owned(), lies);
            }
            RunEvent::Away { bot, away } => {
                self.print(|| events::away(bot, away));
                self.note(&show::away(bot, away));
                metrics::away(tournament, bot, true);
            }
            RunEvent::Back { bot, after } => {
                self.print(|| events::back(bot, after));
                self.note(&format!(
                    "{bot} is back after {}; its games go on",
                    show::whole_seconds(after)
                ));
                metrics::away(tournament, bot, false);
            }
            RunEvent::SetAside { bot, set_aside } => {
                tracing::info!(bot, why = %set_aside.why, "set aside");
                self.print(|| Event::BotSetAside(events::set_aside(bot, set_aside)));
                self.note(&show::set_aside(bot, set_aside));
            }
            RunEvent::Live { group, update } => {
                self.print(|| events::live(group.matchup, update, tournament));
            }
            RunEvent::Committed(took) => metrics::committed(took),
            RunEvent::RefereeDelay(delay) => metrics::late(delay),
            RunEvent::Running { games, moves } => {
                self.moves.store(moves, Ordering::Relaxed);
                metrics::running(games);
            }
            RunEvent::Stopping(reason) => {
                self.print(|| Event::Stopping(StoppingEvent { reason }));
                // Whoever asked for it has been told already.
                if reason == StopCause::TimeUp {
                    self.seen.lock().is_timed_out = true;
                    self.note("stop.time is up; finishing the games that are running");
                }
            }
        }
    }
}
