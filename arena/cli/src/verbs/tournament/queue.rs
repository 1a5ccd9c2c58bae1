//! `arena tournament submit`, `pause`, `cancel`, `readmit`, `priority`: what people ask of the arena that
//! plays all tournaments of a store.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use arena_store::{Store, StoreError, Tournament, Wish};
use arena_terminal::{
    StoreAt,
    queue::{cancel, wish},
    secrets::SEED,
};
use arena_tournament::{Context, Planned, readmit, secret_root};
use clap::Args;
use tokio::time::Instant;

use super::run::{PlayedOn, create, exists};
use crate::{
    End,
    bots::schemes,
    play::typed_root,
    report::{self, plural},
    usage,
    verbs::{STREAM, STREAM_NAME},
};

/// Longest time that an arena which plays a tournament takes to stop, and the pause between two
/// looks.
const STOPS_WITHIN: Duration = Duration::from_secs(30);
const GLANCE: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(crate) struct Submit {
    /// The tournament's file, - for standard input, or the name of a tournament that is stored.
    #[arg(value_name = "FILE|-|NAME")]
    what: String,
    /// What to call it [default: what the file says, or the file's name].
    #[arg(long)]
    name: Option<String>,
    /// Tournaments of a higher priority are played first; those of one priority share the
    /// workers.
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i64>,
    /// Play the same deals again: a number, a word, or the root that an earlier tournament
    /// showed at its end.
    #[arg(long, env = SEED, hide_env = true)]
    seed: Option<String>,
    /// The same, read from a file that only you can read.
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    seed_file: Option<PathBuf>,
    /// Where it is played, whatever the file says.
    #[arg(long, value_enum)]
    on: Option<PlayedOn>,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct Pause {
    /// Its name.
    name: String,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct Cancel {
    /// Its name.
    name: String,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct Readmit {
    /// The tournament's name.
    name: String,
    /// The bot's name.
    bot: String,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct Priority {
    /// Its name.
    name: String,
    /// A number; the highest is played first, and 0 is usual.
    #[arg(allow_negative_numbers = true)]
    priority: i64,
    #[command(flatten)]
    store: StoreAt,
}

impl Submit {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let known = self.store.open_if_there().await?;
        let stored = match &known {
            Some(store) => store.tournament(&self.what).await?,
            None => None,
        };
        let (store, tournament) = match (known, stored) {
            (Some(store), Some(tournament)) => {
                if self.name.is_some()
                    || self.seed.is_some()
                    || self.seed_file.is_some()
                    || self.on.is_some()
                {
                    return usage(format!(
                        "{} is stored already: --name, --seed and --on are for a file",
                        self.what
                    ));
                }
                (store, tournament)
            }
            (known, _) => self.create(known).await?,
        };
        if tournament.state.is_final() {
            return usage(format!(
                "{} is {}; nothing of it is played any more",
                tournament.name,
                tournament.state.word()
            ));
        }
        if let Some(priority) = self.priority {
            store.set_priority(tournament.id, priority).await?;
        }
        store.set_wish(tournament.id, Some(Wish::Play)).await?;
        let name = &tournament.name;
        report::line(&format!(
            "{name} is queued with {}; `arena serve` plays it, `arena tournament status {name}` \
             shows how far it is",
            plural(tournament.entrants.len() as u64, "bot")
        ))?;
        store.close().await;
        Ok(End::Done)
    }

    async fn create(&self, known: Option<Store>) -> anyhow::Result<(Store, Tournament)> {
        let is_stream = self.what == STREAM;
        let file = Path::new(if is_stream { STREAM_NAME } else { &self.what });
        if !is_stream && !file.exists() {
            return usage(format!(
                "{}: there is neither such a file nor a stored tournament of this name",
                self.what
            ));
        }
        let schemes = schemes()?;
        let directory = std::env::current_dir()?;
        let context = Context {
            schemes: &schemes,
            directory: &directory,
            store: known.as_ref(),
            on: self.on.map(Into::into),
        };
        let mut planned = match is_stream {
            true => {
                let stream = io::stdin().lock();
                Planned::read_stream(stream, STREAM_NAME, self.name.as_deref(), context).await?
            }
            false => Planned::read(file, context).await?,
        };
        if let Some(name) = &self.name {
            planned.rename(name)?;
        }
        let typed = typed_root(self.seed.as_deref(), self.seed_file.as_deref())?;
        let store = match known {
            Some(store) => store,
            None => self.store.open().await?,
        };
        if let Some(known) = store.tournament(&planned.name).await? {
            return usage(exists(&known, &planned, file));
        }
        let reproduction = typed.is_some();
        let root = typed.map_or_else(secret_root, Ok)?;
        let created = create(&store, &planned, root, reproduction).await?;
        Ok((store, created))
    }
}

impl Pause {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let name = &self.name;
        let (store, tournament) = self.store.find(name).await?;
        wish(&store, &tournament, Wish::Pause).await?;
        report::line(&format!(
            "{name} is paused: its running games are cut off and played again later; `arena \
             tournament submit {name}` goes on with it"
        ))?;
        store.close().await;
        Ok(End::Done)
    }
}

impl Cancel {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        cancel(&self.store, &self.name).await
    }
}

impl Readmit {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let (store, tournament) = self.store.find(&self.name).await?;
        let is_queued = tournament.wish == Some(Wish::Play) && !tournament.state.is_final();
        if is_queued {
            // Whoever plays it begins anew from what is stored.
            wish(&store, &tournament, Wish::Pause).await?;
        }
        let readmitted = self.readmit(&store, &tournament).await;
        let now = store.tournament(&self.name).await?;
        // Somebody else may have asked for something meanwhile.
        if is_queued && now.is_some_and(|now| now.wish == Some(Wish::Pause)) {
            store.set_wish(tournament.id, Some(Wish::Play)).await?;
        }
        let Self { name, bot, .. } = &self;
        let failed = plural(readmitted?, "deal");
        let goes_on = match is_queued {
            true => String::new(),
            false => format!("; `arena tournament resume {name}` goes on"),
        };
        report::line(&format!(
            "{bot} takes part in {name} again: the {failed} that it failed stay lost, and its other \
             games count{goes_on}"
        ))?;
        store.close().await;
        Ok(End::Done)
    }

    async fn readmit(&self, store: &Store, tournament: &Tournament) -> anyhow::Result<u64> {
        let until = Instant::now() + STOPS_WITHIN;
        let claim = loop {
            match store.claim(tournament.id).await {
                Err(StoreError::Claimed { who, .. }) if Instant::now() >= until => {
                    return usage(format!(
                        "{} is being played by {who}; stop that first, then readmit the bot",
                        self.name
                    ));
                }
                Err(StoreError::Claimed { .. }) => tokio::time::sleep(GLANCE).await,
                claim => break claim?,
            }
        };
        // As it is now that nobody plays it.
        let now = store.tournament(&self.name).await?;
        let readmitted = readmit(store, now.as_ref().unwrap_or(tournament), &self.bot).await;
        claim.release().await;
        Ok(readmitted?)
    }
}

impl Priority {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let (store, tournament) = self.store.find(&self.name).await?;
        store.set_priority(tournament.id, self.priority).await?;
        report::line(&format!("{} has priority {}", self.name, self.priority))?;
        store.close().await;
        Ok(End::Done)
    }
}
