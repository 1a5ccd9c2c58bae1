//! Which store a verb is about.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use arena_store::{Cure, Store, StoreTlsFiles, Tournament};
use clap::Args;
use referee_cli::usage;
use referee_net::ClientFiles;
use tokio::time::Instant;

use crate::secrets::STORE;

/// Pause before a server is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Which store.
#[derive(Args)]
pub struct StoreAt {
    /// Where results are kept: a file for SQLite, or postgres://USER@HOST/NAME. For TLS add
    /// ?sslmode=verify-full&sslrootcert=FILE, and &sslcert=FILE&sslkey=FILE to show a certificate.
    #[arg(
        long = "store",
        env = STORE,
        hide_env_values = true,
        default_value = "arena.sqlite",
        value_name = "FILE|URL"
    )]
    url: String,
}

impl StoreAt {
    /// Opens it, and makes it where there is none.
    pub async fn open(&self) -> anyhow::Result<Store> {
        if Path::new(&self.url).is_dir() {
            return usage(format!(
                "--store {}: it is a folder; expected a file, as in {}",
                self.url,
                Path::new(&self.url).join("arena.sqlite").display()
            ));
        }
        self.check_tls_files()?;
        Store::open(&self.url)
            .await
            .or_else(|error| usage(format!("--store: {error}")))
    }

    /// The same, for a program that is started together with the server of the store: it waits so
    /// long for a server that can't be reached yet.
    pub async fn open_within(&self, time: Duration) -> anyhow::Result<Store> {
        let until = Instant::now() + time;
        while self.is_server() && Instant::now() < until {
            self.check_tls_files()?;
            match Store::open(&self.url).await {
                Ok(store) => return Ok(store),
                Err(error) if error.cure() == Cure::Server => {
                    tracing::warn!(%error, "the store can't be opened yet; trying again");
                }
                Err(error) => return usage(format!("--store: {error}")),
            }
            tokio::time::sleep(PAUSE).await;
        }
        self.open().await
    }

    /// Opens it, and makes none.
    pub async fn open_existing(&self) -> anyhow::Result<Store> {
        if let Some(store) = self.open_if_there().await? {
            return Ok(store);
        }
        usage(format!(
            "--store {}: there is no such file; `arena tournament run`, `submit`, `arena bots add`, \
             `arena contest create` and `arena workers add` make one, and --store or ARENA_STORE names another",
            self.url
        ))
    }

    /// Opens it where there is one.
    pub async fn open_if_there(&self) -> anyhow::Result<Option<Store>> {
        let path = self.url.strip_prefix("sqlite:").unwrap_or(&self.url);
        let path = path.strip_prefix("//").unwrap_or(path);
        if !path.contains("://") && !Path::new(path).exists() {
            return Ok(None);
        }
        self.open().await.map(Some)
    }

    /// Says which file of its URL is wrong before a server is asked.
    fn check_tls_files(&self) -> anyhow::Result<()> {
        let StoreTlsFiles { ca, identity } =
            StoreTlsFiles::of_url(&self.url).or_else(|error| usage(format!("--store: {error}")))?;
        let checked = ClientFiles { ca, identity }.check();
        checked.or_else(|error| usage(format!("--store: {error}")))
    }

    fn is_server(&self) -> bool {
        let mut schemes = ["postgres://", "postgresql://"].into_iter();
        schemes.any(|scheme| self.url.starts_with(scheme))
    }

    /// The files that it has on this machine, whether they are there or not.
    pub fn files(&self) -> Vec<PathBuf> {
        if self.is_server() {
            // Whoever has the key may open the store.
            let files = StoreTlsFiles::of_url(&self.url).ok();
            let identity = files.and_then(|files| files.identity);
            return identity.map(|(_, key)| key).into_iter().collect();
        }
        let path = self.url.strip_prefix("sqlite:").unwrap_or(&self.url);
        let path = path.strip_prefix("//").unwrap_or(path);
        let files = ["", "-wal", "-shm", "-journal"].map(|end| format!("{path}{end}").into());
        files.to_vec()
    }

    /// Opens it and finds a tournament in it.
    pub async fn find(&self, name: &str) -> anyhow::Result<(Store, Tournament)> {
        let store = self.open_existing().await?;
        if let Some(tournament) = store.tournament(name).await? {
            return Ok((store, tournament));
        }
        let all = store.tournaments().await?;
        let names: Vec<&str> = all.iter().map(|one| &*one.name).collect();
        let hint = match (arena_tournament::closest(name, &names), &names[..]) {
            (Some(like), _) => format!("did you mean {like}?"),
            (None, []) => "it has none".to_owned(),
            (None, _) => "`arena tournament list` shows all".to_owned(),
        };
        usage(format!(
            "there is no tournament \"{name}\" in {}: {hint}",
            store.location()
        ))
    }
}
