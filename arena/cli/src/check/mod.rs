//! Is this bot fit to enter? It is put through the calls of its games, from start
//! to stop, and whatever is wrong is named in words that say how to mend it.
//!
//! It judges no game: what a foul is the referee's sitting says.

mod finding;
mod game;
mod host;
mod print;
mod stages;

use std::{
    collections::BTreeMap,
    slice,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use futures_util::future::join_all;
use referee::Closed;
use referee_core::{Foul, FoulKind, GameKind, Limits, Root, Seat};
use tokio_util::task::TaskTracker;

pub(crate) use finding::{Finding, Id, Severity};
pub(crate) use print::{Report, catalogue};

use self::{
    game::{Came, Manner, ReadyInfo, Terms, play},
    host::{Death, Host},
};
use crate::{
    entry::{Entry, Start},
    files::RunFolder,
    tally::plural,
};

/// What is looked at, and how closely.
pub(crate) struct Wanted {
    /// The games; those that it serves where none is named.
    pub(crate) kinds: Option<Vec<&'static dyn GameKind>>,
    pub(crate) limits: Limits,
    /// Over how many games its memory is watched; none with 0.
    pub(crate) games: u64,
    /// About how long each of the longer looks may take.
    pub(crate) patience: Duration,
    /// One game from each seat, and nothing that takes long.
    pub(crate) quick: bool,
    pub(crate) root: Root,
    /// Where the games with a foul are kept.
    pub(crate) records: Option<RunFolder>,
}

/// One of the things that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    Start,
    Discovery,
    WholeGames,
    FirstMoves,
    Calls,
    Resumed,
    NewFields,
    AtOnce,
    Deadlines,
    Cancelled,
    Memory,
    Stop,
    Output,
}

/// What came of a look.
pub(crate) enum Seen {
    /// It was looked at.
    Looked {
        words: String,
        findings: Vec<Finding>,
    },
    /// It was not, because.
    NotLookedAt(String),
}

/// A game of the bot's, as far as it is known.
struct Subject {
    kind: &'static dyn GameKind,
    said: ReadyInfo,
    /// How long each answer took in whole games.
    thoughts: Vec<Duration>,
    /// How often each call was put.
    calls: BTreeMap<String, u32>,
    /// How many of its streams were closed in time, and how many were not.
    closed: (u32, u32),
    /// The game that it was first sent the start of.
    first: Terms,
    /// What came of it after a game was over, and whether that was told.
    afterwards: Option<Foul>,
    afterwards_is_told: bool,
    /// It can't play several games at once, whatever it says.
    alone: bool,
}

/// Looks at a bot and reports as it goes.
pub(crate) struct Examiner<'a> {
    host: Host<'a>,
    entry: &'a Entry,
    wanted: &'a Wanted,
    report: &'a mut Report,
    /// How many games have been begun.
    games: u64,
    /// Streams that nobody waits for.
    closing: TaskTracker,
    /// A stream was not closed by the bot: it may still be at it.
    is_left_open: bool,
}

impl Check {
    /// As it is named in events.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Discovery => "discovery",
            Self::WholeGames => "whole-games",
            Self::FirstMoves => "first-moves",
            Self::Calls => "calls",
            Self::Resumed => "resumed",
            Self::NewFields => "new-fields",
            Self::AtOnce => "at-once",
            Self::Deadlines => "deadlines",
            Self::Cancelled => "cancelled",
            Self::Memory => "memory",
            Self::Stop => "stop",
            Self::Output => "output",
        }
    }
}

impl Seen {
    fn well(words: impl Into<String>) -> Self {
        Self::Looked {
            words: words.into(),
            findings: Vec::new(),
        }
    }

    fn found(words: impl Into<String>, findings: Vec<Finding>) -> Self {
        Self::Looked {
            words: words.into(),
            findings,
        }
    }

    fn is_fault(&self) -> bool {
        matches!(self, Self::Looked { findings, .. }
            if findings.iter().any(|found| found.id.about().severity == Severity::Fault))
    }
}

impl<'a> Examiner<'a> {
    pub(crate) fn new(
        entry: &'a Entry,
        start: &'a Start,
        wanted: &'a Wanted,
        report: &'a mut Report,
    ) -> Self {
        Self {
            host: Host::new(entry, start),
            entry,
            wanted,
            report,
            games: 0,
            closing: TaskTracker::new(),
            is_left_open: false,
        }
    }

    /// Looks at everything.
    ///
    /// # Errors
    ///
    /// Only for our own failures.
    pub(crate) async fn examine(&mut self) -> anyhow::Result<()> {
        let subjects = self.start().await?;
        let number = subjects.len();
        for subject in subjects {
            self.examine_game(subject, number as u32).await?;
        }
        if number > 0 {
            let words = "the process";
            self.report.begins(None, Check::Stop, words);
            let seen = self.stop().await?;
            let seen = self.with_death(Check::Stop, None, seen);
            self.report.seen(None, Check::Stop, &seen)?;
            let seen = self.output();
            self.report.seen(None, Check::Output, &seen)?;
        }
        Ok(())
    }

    /// Stops what is running.
    pub(crate) async fn end(&mut self) {
        self.host.renew().await;
    }

    async fn examine_game(&mut self, mut subject: Subject, of: u32) -> anyhow::Result<()> {
        const CHECKS: [Check; 10] = [
            Check::Discovery,
            Check::WholeGames,
            Check::FirstMoves,
            Check::Calls,
            Check::Resumed,
            Check::NewFields,
            Check::AtOnce,
            Check::Deadlines,
            Check::Cancelled,
            Check::Memory,
        ];
        let game = Some(subject.name());
        // Why nothing more is looked at.
        let mut broken = None;
        for check in CHECKS {
            let seen = if let Some(why) = broken
                && check != Check::Calls
            {
                Seen::NotLookedAt(String::from(why))
            } else {
                self.report.begins(game, check, "");
                match check {
                    Check::Discovery => self.discovery(&subject).await?,
                    Check::WholeGames => self.whole_games(&mut subject).await?,
                    Check::FirstMoves => self.first_moves(&mut subject).await?,
                    Check::Calls => subject.every_call(broken.is_some()),
                    Check::Resumed => self.resumed(&mut subject).await?,
                    Check::NewFields => self.new_fields(&subject).await?,
                    Check::AtOnce => self.at_once(&mut subject).await?,
                    Check::Deadlines => self.deadlines(&subject).await?,
                    Check::Cancelled => self.cancelled(&subject).await?,
                    Check::Memory => self.memory(&subject, of).await?,
                    Check::Start | Check::Stop | Check::Output => unreachable!("not a game's"),
                }
            };
            let seen = self.with_death(check, Some(subject.kind), seen);
            self.report.seen(game, check, &seen)?;
            if seen.is_fault() {
                if check == Check::WholeGames {
                    broken = Some("it must first play a whole game without a foul");
                } else if self.is_lost(&seen) {
                    broken = Some("it is gone, and not ours to start again");
                }
                // What it did wrong is not to be blamed on it twice.
                self.host.renew().await;
            }
        }
        self.is_left_open |= subject.closed.1 > 0;
        Ok(())
    }

    /// The same, and that its process has ended by itself where nothing else was wrong.
    fn with_death(
        &mut self,
        check: Check,
        kind: Option<&'static dyn GameKind>,
        seen: Seen,
    ) -> Seen {
        match (self.host.died(), &seen) {
            (Some(Death { foul, after }), Seen::Looked { findings, .. }) if findings.is_empty() => {
                let (id, when) = match check {
                    Check::Cancelled => (Id::Cancelled, "while streams were cancelled"),
                    _ => (Id::of_foul(foul.kind()), "when a game was over"),
                };
                let came = format!("{when}: {foul}");
                Seen::found("", vec![plain(id, after.or(kind), came)])
            }
            _ => seen,
        }
    }

    /// Whether it could not be reached any more, where nobody here starts it again.
    fn is_lost(&self, seen: &Seen) -> bool {
        let Seen::Looked { findings, .. } = seen else {
            return false;
        };
        let lost = |found: &Finding| matches!(found.id, Id::Unreachable | Id::NoReady);
        !self.host.is_ours() && findings.iter().any(lost)
    }

    /// The foul with which a bot that is not ours to start is gone: it can't be
    /// reached any more, or says nothing at all. What it does wrong while it is there
    /// is another matter.
    async fn gone(&mut self, foul: Option<&Foul>) -> anyhow::Result<Option<Foul>> {
        let Some(foul) = foul else { return Ok(None) };
        let kind = foul.kind();
        if self.host.is_ours() || !matches!(kind, FoulKind::Unreachable | FoulKind::NoStart) {
            return Ok(None);
        }
        self.host.renew().await;
        if let Err(foul) = self.host.running().await? {
            return Ok(Some(foul));
        }
        Ok(self.is_dumb().await?.then(|| foul.clone()))
    }

    /// By when a short look should come to its end.
    fn soon(&self) -> Instant {
        until(self.wanted.patience / 4)
    }

    /// Waits for streams that are still being closed, where so many more games would
    /// be more than it can play: until its stream is closed a game has its place.
    async fn room(&self, subject: &Subject, games: usize) {
        if self.closing.len() + games > subject.max_games() {
            self.all_closed().await;
        }
    }

    /// Waits for every stream that is still being closed.
    async fn all_closed(&self) {
        self.closing.close();
        self.closing.wait().await;
        self.closing.reopen();
    }

    /// What comes of a game with the bot in this seat, from the beginning that a
    /// trial has.
    async fn play(
        &mut self,
        kind: &'static dyn GameKind,
        trial: usize,
        seat: Seat,
        manner: &Manner,
    ) -> anyhow::Result<Came> {
        let terms = self.terms(kind, trial, seat);
        self.play_one(&terms, manner).await
    }

    /// What comes of this game; where there is no bot to play it, its foul.
    async fn play_one(&mut self, terms: &Terms, manner: &Manner) -> anyhow::Result<Came> {
        let came = match self.play_all(slice::from_ref(terms), manner).await? {
            Ok(mut came) => came.pop().context("one game was played")?,
            Err(foul) => Came {
                foul: Some(foul),
                ..Came::default()
            },
        };
        Ok(came)
    }

    /// Whether it is what these games have left in the process that makes this one a
    /// foul: a new process plays it without one, and another, which begins with them,
    /// comes to one sooner or later. A bot that fails at random will hardly do so
    /// twice.
    async fn is_of_games_before(
        &mut self,
        before: &[Terms],
        terms: &Terms,
        foul: FoulKind,
        share: Duration,
    ) -> anyhow::Result<bool> {
        for _ in 0..2 {
            self.host.renew().await;
            if self.plays(terms, share).await?.is_some() {
                return Ok(false);
            }
            self.host.renew().await;
            let mut came = None;
            for (played, terms) in before.iter().chain([terms]).enumerate() {
                came = self.plays(terms, share).await?;
                if came.is_some() && played > 0 {
                    break;
                }
            }
            if came != Some(foul) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The foul with which it plays this game, of which so much is seen.
    async fn plays(&mut self, terms: &Terms, share: Duration) -> anyhow::Result<Option<FoulKind>> {
        let manner = Manner {
            leave_at: Some(until(share)),
            ..Manner::default()
        };
        let came = self.play_one(terms, &manner).await?;
        Ok(came.foul.as_ref().map(Foul::kind))
    }

    /// What comes of these games, all at once. Where a process that has played
    /// before is gone when they begin, it has died since: they are begun again, once,
    /// with a new one.
    ///
    /// # Errors
    ///
    /// Our own failure; the inner one is the foul of a bot that can't be started
    /// or reached.
    async fn play_all(
        &mut self,
        terms: &[Terms],
        manner: &Manner,
    ) -> anyhow::Result<Result<Vec<Came>, Foul>> {
        let mut again = true;
        loop {
            let probe = match self.host.running().await? {
                Ok(running) => &running.probe,
                Err(foul) => return Ok(Err(foul)),
            };
            let came = join_all(terms.iter().map(|terms| play(probe, terms, manner))).await;
            let came: Vec<Came> = came.into_iter().collect::<anyhow::Result<_>>()?;
            let gone = came.iter().find_map(|came| came.gone.clone());
            if let Some(foul) = gone
                && again
                && self.host.is_proven()
            {
                self.host.bury(foul).await;
                again = false;
                continue;
            }
            for (terms, came) in terms.iter().zip(&came) {
                if came.ready.is_some() {
                    self.host.was_ready(terms.kind);
                }
            }
            return Ok(Ok(came));
        }
    }

    fn terms(&mut self, kind: &'static dyn GameKind, trial: usize, seat: Seat) -> Terms {
        let number = self.games;
        self.games += 1;
        let setup = kind
            .trials()
            .get(trial)
            .and_then(|trial| serde_json::from_str(trial.setup).ok())
            .unwrap_or_default();
        Terms {
            kind,
            setup,
            seed: self.wanted.root.seed(kind.info().name, number),
            seat,
            name: self.entry.name.clone(),
            id: format!("{}-{number:04}", kind.info().name),
            limits: self.wanted.limits,
            closing: self.closing.clone(),
        }
    }

    /// A finding, with the record of its game where it is kept.
    async fn finding(
        &self,
        id: Id,
        kind: &'static dyn GameKind,
        came: String,
        game: &mut Came,
    ) -> anyhow::Result<Finding> {
        let evidence = match (&self.wanted.records, game.record.take()) {
            (Some(folder), Some(record)) => Some(folder.write(record).await?.display().to_string()),
            _ => None,
        };
        Ok(Finding {
            id,
            games: vec![name_of(kind)],
            came,
            evidence,
        })
    }

    /// The same for a game that ended with a foul which is no other finding.
    async fn foul(
        &self,
        kind: &'static dyn GameKind,
        seat: Seat,
        game: &mut Came,
    ) -> anyhow::Result<Option<Finding>> {
        let Some(foul) = game.foul.clone() else {
            return Ok(None);
        };
        let came = format!("{}, {}", in_words(&foul, game), seated(seat));
        let id = Id::of_foul(foul.kind());
        Ok(Some(self.finding(id, kind, came, game).await?))
    }
}

impl Subject {
    fn name(&self) -> &'static str {
        name_of(self.kind)
    }

    fn seats(&self) -> impl ExactSizeIterator<Item = Seat> + Clone + use<> {
        Seat::all(self.kind.info().seats)
    }

    /// How many games a process plays at once, as it says.
    fn max_games(&self) -> usize {
        match self.said.max_games {
            Some(games) if games > 0 && !self.alone => games as usize,
            _ => 1,
        }
    }

    /// Takes down what a game has shown.
    fn learn(&mut self, came: &Came) {
        for (call, times) in &came.calls {
            *self.calls.entry(call.clone()).or_default() += times;
        }
        match &came.closed {
            Some(Closed::InOrder) => self.closed.0 += 1,
            Some(Closed::Wrongly(foul)) => {
                self.closed.0 += 1;
                self.afterwards.get_or_insert_with(|| foul.clone());
            }
            Some(Closed::Not) => self.closed.1 += 1,
            None => {}
        }
    }

    /// What came of it after a game was over, once.
    fn afterwards(&mut self) -> Option<Finding> {
        let foul = self
            .afterwards
            .as_ref()
            .filter(|_| !self.afterwards_is_told)?;
        self.afterwards_is_told = true;
        Some(plain(Id::AfterGameOver, Some(self.kind), foul.to_string()))
    }

    /// Don't wait for a third stream that is not closed.
    const fn is_hasty(&self) -> bool {
        self.closed.1 > 2
    }
}

/// A finding that needs no record.
fn plain(id: Id, kind: Option<&'static dyn GameKind>, came: impl Into<String>) -> Finding {
    Finding {
        id,
        games: kind.map(name_of).into_iter().collect(),
        came: came.into(),
        evidence: None,
    }
}

fn name_of(kind: &'static dyn GameKind) -> &'static str {
    kind.info().name
}

fn in_words(foul: &Foul, game: &Came) -> String {
    if game.at.is_empty() {
        foul.to_string()
    } else {
        format!("{foul}; {}", game.at)
    }
}

fn seated(seat: Seat) -> String {
    format!("in seat {seat}")
}

fn counted(games: usize) -> String {
    plural(games as u32, "game")
}

/// A length of time for people, in whole milliseconds or coarser.
fn about(time: Duration) -> String {
    let millis = time.as_millis() as u64;
    if millis < 10 {
        let tenths = (time.as_micros() as u64).div_ceil(100);
        return format!("{}.{}ms", tenths / 10, tenths % 10);
    }
    humantime::format_duration(Duration::from_millis(millis)).to_string()
}

fn median(times: &[Duration]) -> Option<Duration> {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// So long from now.
fn until(patience: Duration) -> Instant {
    Instant::now() + patience
}
