//! Common needs of all stages: a process of the bot, and games with it.

use std::{
    slice,
    time::{Duration, Instant},
};

use arena_events::check::FindingName;
use futures_util::future::join_all;
use referee_bots::{BotOptions, Entry, LaunchContext};
use referee_core::{Foul, FoulKind, GameKind, Limits, Root, Seat};
use referee_worker::RecordFolder;
use tokio_util::task::TaskTracker;

use crate::{
    error::{CheckError, Halt},
    evidence::Circumstance,
    finding::{Finding, name_of_foul},
    game::{GameSeen, GameSetting, PlayOptions, play},
    host::Host,
    subject::{Subject, finding, observed},
};

/// Longest time that a bot may take to answer what every gRPC server answers at once.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(5);

/// Subject and depth of a check.
#[derive(Clone)]
pub struct CheckOptions {
    /// The games; those that the bot serves where there are none here.
    pub kinds: Option<Vec<&'static dyn GameKind>>,
    /// The limits of every game.
    pub limits: Limits,
    /// Over how many games its memory is watched; not at all with 0.
    pub games: u64,
    /// About how long each of the longer stages may take.
    pub patience: Duration,
    /// One game from each seat, and no stage that takes long.
    pub quick: bool,
    /// Decides the deals.
    pub root: Root,
    /// Folder for the records of games with a foul.
    pub records: Option<RecordFolder>,
}

/// The bot that is checked, and what is known of its processes.
pub(crate) struct Examiner<'a> {
    pub(crate) host: Host<'a>,
    pub(crate) entry: &'a Entry,
    pub(crate) options: &'a CheckOptions,
    /// Number of games that have been begun.
    pub(crate) games: u64,
    /// Streams that nobody waits for while they close.
    closing: TaskTracker,
    /// The bot did not end a stream: it may still be busy with it.
    pub(crate) is_left_open: bool,
}

impl<'a> Examiner<'a> {
    pub(crate) fn new(
        entry: &'a Entry,
        context: &'a LaunchContext,
        bot_options: &'a BotOptions,
        options: &'a CheckOptions,
    ) -> Self {
        Self {
            host: Host::new(entry, context, bot_options),
            entry,
            options,
            games: 0,
            closing: TaskTracker::new(),
            is_left_open: false,
        }
    }

    /// True if it takes connections and does not answer at all.
    pub(crate) async fn is_silent(&mut self) -> Result<bool, CheckError> {
        let within = AT_ONCE.min(self.options.limits.start);
        match self.host.probe().await {
            Ok(probe) => Ok(probe.health("", within).await == referee::Health::Silent),
            // It has ended, and does not start again.
            Err(Halt::Gone(_)) => Ok(false),
            Err(Halt::Failed(error)) => Err(error),
        }
    }

    /// Ends the stage where a bot that we don't start is gone: it can't be reached any
    /// more, or does not answer at all.
    pub(crate) async fn must_be_there(&mut self, foul: Option<&Foul>) -> Result<(), Halt> {
        let Some(foul) = foul else { return Ok(()) };
        let may_be_gone = matches!(foul.kind(), FoulKind::Unreachable | FoulKind::NoStart);
        if self.host.is_started_by_us() || !may_be_gone {
            return Ok(());
        }
        self.host.renew().await;
        self.host.running().await?;
        match self.is_silent().await? {
            true => Err(Halt::Gone(foul.clone())),
            false => Ok(()),
        }
    }

    /// By when a short stage should come to its end.
    pub(crate) fn soon(&self) -> Instant {
        Instant::now() + self.options.patience / 4
    }

    /// Waits for streams that still close, where so many more games would be more than the
    /// bot can play: a game takes up room until its stream is closed.
    pub(crate) async fn make_room(&self, subject: &Subject, games: usize) {
        if self.closing.len() + games > subject.max_games() {
            self.all_closed().await;
        }
    }

    /// Waits for every stream that still closes.
    pub(crate) async fn all_closed(&self) {
        self.closing.close();
        self.closing.wait().await;
        self.closing.reopen();
    }

    /// Plays one game. The stage ends where the bot can't be started or reached.
    pub(crate) async fn play_one_or_halt(
        &mut self,
        setting: &GameSetting,
        options: &PlayOptions,
    ) -> Result<GameSeen, Halt> {
        let mut seen = self.play_all(slice::from_ref(setting), options).await?;
        Ok(seen.pop().expect("one game was played"))
    }

    /// Plays one game. Where the bot can't be started or reached, that is its foul.
    pub(crate) async fn play_one(
        &mut self,
        setting: &GameSetting,
        options: &PlayOptions,
    ) -> Result<GameSeen, CheckError> {
        match self.play_one_or_halt(setting, options).await {
            Ok(seen) => Ok(seen),
            Err(Halt::Gone(foul)) => Ok(GameSeen {
                foul: Some(foul),
                ..GameSeen::default()
            }),
            Err(Halt::Failed(error)) => Err(error),
        }
    }

    /// Plays games, all at once, one for each setting. Where a process that has played
    /// before has ended when they begin, they are begun again, once, with a new one.
    pub(crate) async fn play_all(
        &mut self,
        settings: &[GameSetting],
        options: &PlayOptions,
    ) -> Result<Vec<GameSeen>, Halt> {
        let mut again = true;
        loop {
            let probe = self.host.probe().await?;
            let seen = join_all(settings.iter().map(|one| play(probe, one, options))).await;
            let seen = seen.into_iter().collect::<Result<Vec<GameSeen>, _>>()?;
            let gone = seen.iter().find_map(|seen| seen.gone.clone());
            if let Some(foul) = gone
                && again
                && self.host.is_proven()
            {
                self.host.bury(foul).await;
                again = false;
                continue;
            }
            for (setting, seen) in settings.iter().zip(&seen) {
                if seen.ready.is_some() {
                    self.host.was_ready(setting.kind);
                }
            }
            return Ok(seen);
        }
    }

    /// A game that has not been played: with a beginning of the game's trials, and the bot
    /// in this seat.
    pub(crate) fn setting(
        &mut self,
        kind: &'static dyn GameKind,
        trial: usize,
        seat: Seat,
    ) -> GameSetting {
        let number = self.games;
        self.games += 1;
        let usual = self.entry.launcher().usual_setup();
        let setup = match usual.and_then(|usual| kind.opening(usual).ok()) {
            Some(usual) => Some(usual),
            None => kind.trials().get(trial).map(|trial| {
                serde_json::from_str(trial.setup).expect("the set-up of a trial is JSON")
            }),
        };
        GameSetting {
            kind,
            setup: setup.unwrap_or_default(),
            seed: self.options.root.seed(kind.info().name, number),
            seat,
            name: self.entry.name.clone(),
            id: format!("{}-{number:04}", kind.info().name),
            limits: self.options.limits,
            closing: self.closing.clone(),
        }
    }

    /// The finding of a game's foul, with the record of the game where records are kept.
    pub(crate) async fn foul_finding(
        &self,
        name: FindingName,
        kind: &'static dyn GameKind,
        seen: &mut GameSeen,
        circumstance: Circumstance,
    ) -> Result<Option<Finding>, CheckError> {
        let Some(foul) = seen.foul.clone() else {
            return Ok(None);
        };
        let record = match (&self.options.records, seen.record.take()) {
            (Some(folder), Some(record)) => {
                Some(folder.write(record).await.map_err(CheckError::Record)?)
            }
            _ => None,
        };
        let evidence = observed(foul, seen, circumstance);
        Ok(Some(Finding {
            record,
            position: seen.position.take(),
            last_output: self.host.last_output().await,
            ..finding(name, Some(kind), evidence)
        }))
    }

    /// The same for the foul of a game, named by the kind of the foul.
    pub(crate) async fn foul_of(
        &self,
        setting: &GameSetting,
        seen: &mut GameSeen,
    ) -> Result<Option<Finding>, CheckError> {
        let Some(foul) = &seen.foul else {
            return Ok(None);
        };
        let (name, seat) = (name_of_foul(foul.kind()), Circumstance::Seat(setting.seat));
        self.foul_finding(name, setting.kind, seen, seat).await
    }
}

/// The middle one of these times.
pub(crate) fn median(times: &[Duration]) -> Option<Duration> {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}
