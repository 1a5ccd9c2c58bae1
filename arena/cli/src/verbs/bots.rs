//! `arena bots`: who may take part, in the store; and what an author begins with.

use arena_events::{
    Event,
    bot::{BotArchive, BotCheckedEvent, BotEvent},
};
use arena_ladder::{Entrant, ScheduleShape, Seatings};
use arena_store::{ArchiveInfo, BotRow, NewBot, Store, StoreError};
use arena_terminal::{Format, Reporter, StoreAt};
use arena_tournament::{RunEnd, Warning, events, find_game};
use clap::{Args, Subcommand};
use referee_bots::{Entry, PackedSpec};
use referee_cli::{CacheArgs, LaunchArgs};
use referee_core::{Foul, FoulKind, GameKind};
use referee_games::{GAMES, game_name};
use referee_worker::Stop;

use super::{
    archives::{self, Archives, bytes},
    dockerfile::Dockerfile,
    games_of,
    new::New,
    packing::PackArgs,
};
use crate::{End, bots::schemes, play::Settings, report, stop, usage};

#[derive(Subcommand)]
pub(crate) enum Bots {
    /// Write a folder with a new bot that plays, its test and a Makefile
    New(New),
    /// Register a bot, after a check that it plays
    Add(Add),
    /// List the registered bots
    List(List),
    /// Play one deal with each: exit code 1 if one can't be started or fails
    Check(Check),
    /// Take a bot out of the register; tournaments keep what they have
    Remove(Remove),
    /// Write a Dockerfile for a bot, to play it as image:NAME
    Dockerfile(Dockerfile),
}

#[derive(Args)]
pub(crate) struct Add {
    /// Its name.
    name: String,
    /// How to start or reach it: house:NAME, exec:COMMAND, stdio:COMMAND, gtp:COMMAND,
    /// kaggle:FILE.py, strategy:FILE.so, image:NAME, grpc://HOST:PORT (with TLS: grpcs://) or
    /// unix:PATH.
    #[arg(long, value_name = "SPEC", required_unless_present = "run")]
    bot: Option<String>,
    /// The command that starts it in the folder of --dir, as in 'python3 my_bot.py'.
    #[arg(long, value_name = "COMMAND", requires = "dir", conflicts_with = "bot")]
    run: Option<String>,
    #[command(flatten)]
    pack: PackArgs,
    /// Its version; a name may have several, and by itself it means the newest.
    #[arg(long, default_value = "1")]
    version: String,
    /// Its owner.
    #[arg(long)]
    owner: Option<String>,
    /// A game that it plays, once for each [default: those that it is found to
    /// play].
    #[arg(long = "game")]
    games: Vec<String>,
    /// Don't check whether it plays.
    #[arg(long, requires = "games")]
    no_check: bool,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    launch: LaunchArgs,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args)]
pub(crate) struct Check {
    /// The bots to check [default: all].
    names: Vec<String>,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    launch: LaunchArgs,
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args)]
pub(crate) struct Remove {
    /// NAME, or NAME@VERSION for one version of it.
    name: String,
    #[command(flatten)]
    store: StoreAt,
}

/// Advice for a finding of this short check.
const CLOSER_LOOK: &str = "`arena check SPEC` says what was expected and how to fix it\n";

/// Result of a bot in one deal of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Finding {
    /// It played every game to its end.
    Plays,
    /// It says, with this foul, that it does not play this game.
    DoesNotPlay(Box<Foul>),
    /// It did this, with the evidence.
    Fails(Box<Foul>),
    /// The check was stopped.
    Stopped,
}

impl Bots {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        match self {
            Self::New(new) => new.run(),
            Self::Add(add) => add.run().await,
            Self::List(list) => list.run().await,
            Self::Check(check) => check.run().await,
            Self::Remove(remove) => remove.run().await,
            Self::Dockerfile(dockerfile) => dockerfile.run(),
        }
    }
}

impl Add {
    async fn run(self) -> anyhow::Result<End> {
        let schemes = schemes()?;
        let spec = match (&self.bot, &self.run) {
            (Some(spec), _) => spec.clone(),
            (None, Some(command)) => format!("exec:{command}"),
            (None, None) => return usage("expected --bot SPEC, or --dir FOLDER --run COMMAND"),
        };
        let packed = self.pack.packed(&self.name, &spec, &schemes)?;
        let spec = packed.as_ref().map_or(spec, |bot| bot.spec.to_string());
        let entry = Entry::read(&format!("{}={spec}", self.name), &schemes)?;
        let here = std::env::current_dir()?;
        entry.check_files(&here)?;
        let archives = match &packed {
            Some(bot) => {
                report::line(&bot.described())?;
                // What is checked is what will be played with, not the folder.
                let (archives, held) = Archives::unpack(&self.cache, &bot.packed)?;
                let inner = Entry::read(&format!("{}={}", self.name, bot.spec.inner), &schemes)?;
                inner.check_files(held.files())?;
                Some(archives)
            }
            None => self.fetched(&entry).await?,
        };
        let mut kinds = games_of(&entry, &self.games, &here)?;
        if kinds.is_empty() {
            kinds = GAMES.to_vec();
            kinds.retain(|kind| entry.check_game(kind.info(), &here).is_ok());
        }
        let stop = stop::on_signals(None)?;
        let of = kinds.len();
        let mut games: Vec<String> = Vec::new();
        for kind in kinds {
            let game = kind.info().name;
            let name = game_name(game);
            if self.no_check {
                games.push(game.to_owned());
                continue;
            }
            let settings = settings(kind, &self.launch, &self.store, archives.as_ref())?;
            match look(&entry, settings, &stop).await? {
                Finding::Plays => games.push(game.to_owned()),
                Finding::DoesNotPlay(_) if self.games.is_empty() && of > 1 => {}
                Finding::DoesNotPlay(how) => {
                    let why = format!("it says that it does not play {name}: {how}");
                    return refuse(&self.name, &why);
                }
                Finding::Stopped => return Ok(End::Interrupted),
                Finding::Fails(how) => {
                    let end = refuse(&self.name, &format!("{name}: {how}"))?;
                    report::text(CLOSER_LOOK)?;
                    return Ok(end);
                }
            }
        }
        if games.is_empty() {
            return refuse(&self.name, "it plays none of the games");
        }
        let bot = NewBot {
            name: self.name.clone(),
            version: self.version.clone(),
            spec,
            owner: self.owner.clone(),
            games,
        };
        let store = self.store.open().await?;
        if let Some(bot) = &packed {
            archives::keep(&store, &bot.packed).await?;
        }
        match store.add_bot(&bot).await {
            Ok(()) => {}
            Err(error @ StoreError::Exists { .. }) => {
                return usage(format!("{error}; --version gives this one another version"));
            }
            Err(error @ StoreError::BadName { .. }) => return usage(error.to_string()),
            Err(error) => return Err(error.into()),
        }
        let plays: Vec<String> = bot.games.iter().map(|game| game_name(game)).collect();
        report::text(&format!(
            "{} version {} is registered for {}\n",
            bot.name,
            bot.version,
            plays.join(", ")
        ))?;
        Ok(End::Done)
    }

    /// The archive of a bot that is in one already.
    async fn fetched(&self, entry: &Entry) -> anyhow::Result<Option<Archives>> {
        if entry.launcher().archive().is_none() {
            return Ok(None);
        }
        let store = self.store.open_existing().await?;
        Archives::fetch(&self.cache, &store, [entry]).await
    }
}

/// A bot that does not do what it is registered for is not registered.
fn refuse(name: &str, why: &str) -> anyhow::Result<End> {
    report::line(&format!("{name} is not registered: {why}"))?;
    Ok(End::No)
}

impl List {
    async fn run(self) -> anyhow::Result<End> {
        let store = self.store.open_existing().await?;
        let bots = store.bots().await?;
        let archives = store.archives().await?;
        if self.format == Format::Json {
            for BotRow {
                bot,
                newest,
                retired,
            } in bots
            {
                let archive = archive_of(&bot.spec, &archives);
                report::event(Event::Bot(BotEvent {
                    bot: bot.name,
                    bot_version: bot.version,
                    spec: bot.spec,
                    owner: bot.owner,
                    games: bot.games.iter().map(|game| game_name(game)).collect(),
                    newest,
                    retired,
                    archive: archive.map(|archive| BotArchive {
                        hash: archive.hash.clone(),
                        bytes: archive.size,
                        packed_bytes: archive.packed_size,
                        packed_by: archive.packed_by.clone(),
                        packed_unix_ms: archive.packed_unix_ms,
                    }),
                }))?;
            }
            return Ok(End::Done);
        }
        let bots: Vec<&BotRow> = bots.iter().filter(|row| !row.retired).collect();
        if bots.is_empty() {
            report::text("no bot is registered; `arena bots add NAME --bot SPEC` registers one\n")?;
            return Ok(End::Done);
        }
        let rows: Vec<[String; 5]> = bots
            .iter()
            .map(|row| {
                let bot = &row.bot;
                let games: Vec<String> = bot.games.iter().map(|game| game_name(game)).collect();
                [
                    bot.name.clone(),
                    bot.version.clone(),
                    bot.owner.clone().unwrap_or_else(|| "-".to_owned()),
                    games.join(" "),
                    shown(&bot.spec, &archives),
                ]
            })
            .collect();
        // The SPEC takes what the other columns leave.
        let header = ["name", "version", "owner", "games", "bot"];
        let rows = report::fitted(&header, rows, &[16, 10, 10, 24], 16);
        report::plain_table(&header, rows)?;
        Ok(End::Done)
    }
}

impl Check {
    async fn run(self) -> anyhow::Result<End> {
        let store = self.store.open_existing().await?;
        let bots = self.bots(&store).await?;
        if bots.is_empty() {
            return usage("no bot is registered; `arena bots add NAME --bot SPEC` registers one");
        }
        let stop = stop::on_signals(None)?;
        let mut end = End::Done;
        for bot in bots {
            let entry = Entry::read(&format!("{}={}", bot.name, bot.spec), &schemes()?)?;
            let archives = Archives::fetch(&self.cache, &store, [&entry]).await?;
            for game in &bot.games {
                let kind = find_game(game)?;
                let settings = settings(kind, &self.launch, &self.store, archives.as_ref())?;
                let found = look(&entry, settings, &stop).await?;
                let (well, words) = match &found {
                    Finding::Plays => (true, "plays".to_owned()),
                    Finding::DoesNotPlay(foul) | Finding::Fails(foul) => (false, foul.to_string()),
                    Finding::Stopped => return Ok(End::Interrupted),
                };
                if !well {
                    end = End::No;
                }
                match self.format {
                    Format::Text => {
                        let game = game_name(game);
                        report::line(&format!("{}@{} {game}: {words}", bot.name, bot.version))?;
                    }
                    Format::Json => report::event(Event::BotChecked(BotCheckedEvent {
                        bot: bot.name.clone(),
                        bot_version: bot.version.clone(),
                        game: game_name(kind.info().name),
                        plays: well,
                        foul: match &found {
                            Finding::Fails(foul) | Finding::DoesNotPlay(foul) => {
                                Some(events::evidence(foul))
                            }
                            Finding::Plays | Finding::Stopped => None,
                        },
                    }))?,
                }
            }
        }
        if end == End::No && self.format == Format::Text {
            report::text(CLOSER_LOOK)?;
        }
        Ok(end)
    }

    async fn bots(&self, store: &Store) -> anyhow::Result<Vec<NewBot>> {
        if self.names.is_empty() {
            let all = store.bots().await?;
            let there = all.into_iter().filter(|row| row.newest && !row.retired);
            return Ok(there.map(|row| row.bot).collect());
        }
        let mut bots = Vec::new();
        for name in &self.names {
            match store.bot(name).await? {
                Some(row) => bots.push(row.bot),
                None => return unknown(name),
            }
        }
        Ok(bots)
    }
}

impl Remove {
    async fn run(self) -> anyhow::Result<End> {
        let store = self.store.open_existing().await?;
        match store.remove_bot(&self.name).await {
            Err(StoreError::Missing { .. }) => return unknown(&self.name),
            removed => removed?,
        };
        archives::remove_unused(&store).await?;
        report::text(&format!("{} is no longer registered\n", self.name))?;
        Ok(End::Done)
    }
}

fn unknown<T>(name: &str) -> anyhow::Result<T> {
    usage(format!(
        "no bot \"{name}\" is registered; `arena bots list` shows those that are"
    ))
}

/// The archive that a SPEC names.
fn archive_of<'a>(spec: &str, archives: &'a [ArchiveInfo]) -> Option<&'a ArchiveInfo> {
    let packed: PackedSpec = spec.parse().ok()?;
    let hash = packed.hash.to_string();
    archives.iter().find(|archive| archive.hash == hash)
}

/// A SPEC as a table has it: of an archive its size and the first digits of its hash.
fn shown(spec: &str, archives: &[ArchiveInfo]) -> String {
    let Ok(packed) = spec.parse::<PackedSpec>() else {
        return spec.to_owned();
    };
    let size = match archive_of(spec, archives) {
        Some(archive) => bytes(archive.size),
        None => "not in the store".to_owned(),
    };
    format!("{} ({size}) {}", packed.hash.short(), packed.inner)
}

/// Settings to try a bot with.
fn settings(
    kind: &'static dyn GameKind,
    launch: &LaunchArgs,
    store: &StoreAt,
    archives: Option<&Archives>,
) -> anyhow::Result<Settings> {
    Ok(Settings {
        launch: launch.clone(),
        archives: archives.map(|archives| archives.cache.clone()),
        hidden: store.files(),
        ..Settings::unrecorded(kind)?
    })
}

/// Plays one deal from every seating against `random` and looks how it goes.
async fn look(entry: &Entry, settings: Settings, stop: &Stop) -> anyhow::Result<Finding> {
    let kind = settings.kind;
    let seats: usize = kind.info().seats.into();
    let mut bots = vec![entry.clone()];
    for seat in 1..seats {
        let other = format!("other-{seat}=house:random");
        bots.push(Entry::read(&other, &settings.schemes)?);
    }
    let (seatings, deals) = settings.isolated(&bots, Seatings::Rotations, 1);
    let shape = ScheduleShape::RoundRobin {};
    let plan = settings.plan(bots, shape, deals, seatings, None)?;
    let reporter = Reporter::new(&game_name(kind.info().name), None, false, stop).silent();
    let played = settings.play(plan, None, false, stop, reporter).await?;
    if played.outcome.end == RunEnd::Stopped {
        return Ok(Finding::Stopped);
    }
    let figures = &played.snapshot.figures.bots[0];
    let games: u64 = figures.seats.values().sum();
    let unsupported = figures.fouls.get(&FoulKind::Unsupported);
    let first = played
        .snapshot
        .warnings
        .iter()
        .find_map(|warning| match warning {
            Warning::Fouls { first, .. } if first.entrant == Entrant::new(0) => Some(first),
            _ => None,
        });
    Ok(match first {
        None => Finding::Plays,
        Some(first) if unsupported == Some(&games) => {
            Finding::DoesNotPlay(Box::new(first.foul.clone()))
        }
        Some(first) => Finding::Fails(Box::new(first.foul.clone())),
    })
}
