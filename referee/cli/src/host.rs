//! A host: a container's program that waits for a packed bot, and becomes it.

use std::{
    fs, io,
    os::unix::{fs::FileTypeExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use arena_proto::arena::v1::{
    TakeBotReply, TakeBotRequest,
    bot_host_server::{BotHost, BotHostServer},
    take_bot_request::Message,
};
use clap::Args;
use parking_lot::Mutex;
use referee::Address;
use referee_bots::{
    Entry, Reach, Schemes,
    archive::{ArchiveCache, ArchiveHash, MOST_PACKED_BYTES},
    read_input_text,
};
use tokio::{
    net::{TcpListener, UnixListener},
    sync::oneshot,
    time::timeout,
};
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tonic::{
    Request, Response, Status, Streaming,
    transport::{Server, server::Router},
};
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{CacheArgs, End, bots, stop, text::say, usage};

/// The file with the SPEC of the bot that was taken, in the folder of archives. With it the bot is
/// started again where its container is.
const TAKEN: &str = "taken";
/// The most bytes of a SPEC.
const LONGEST_SPEC: u64 = 64 * 1024;
/// Longest time until a referee has its reply and has gone.
const REPLY_GRACE: Duration = Duration::from_secs(1);

/// Where a host listens, and where it unpacks its bot.
#[derive(Args, Clone, Debug)]
pub struct HostArgs {
    /// Where to listen, and later the bot: unix:PATH or tcp:HOST:PORT.
    #[arg(long, env = "BOT_LISTEN", value_name = "ADDRESS")]
    listen: Address,
    #[command(flatten)]
    cache: CacheArgs,
}

impl HostArgs {
    /// The address at which to listen.
    #[must_use]
    pub const fn listen(&self) -> &Address {
        &self.listen
    }

    /// True if a bot was taken here before, which is started again.
    ///
    /// # Errors
    ///
    /// The folder can't be used.
    pub fn has_bot(&self) -> anyhow::Result<bool> {
        Ok(self.cache.open()?.folder().join(TAKEN).exists())
    }

    /// Waits for a bot, and becomes it.
    ///
    /// # Errors
    ///
    /// The address can't be listened on, the folder can't be used, or the bot's program can't be
    /// run.
    pub async fn run(self) -> anyhow::Result<End> {
        let stop = stop::at_once_on_signals()?;
        let schemes = Arc::new(bots::hosted_schemes()?);
        let cache = Arc::new(self.cache.open()?);
        let taken = cache.folder().join(TAKEN);
        let bot = match read_input_text(&taken, LONGEST_SPEC) {
            Ok(spec) => PackedBot::read(&spec, &schemes).or_else(usage)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let waited = tokio::select! {
                    bot = wait(&self.listen, schemes, cache.clone()) => Some(bot?),
                    () = stop.cutting_off() => None,
                };
                match waited {
                    Some(bot) => bot,
                    None => return Ok(End::Done),
                }
            }
            Err(error) => return Err(error).context(taken.display().to_string()),
        };
        Err(bot.run_in_our_place(&cache)?)
    }
}

/// Listens until a bot was taken.
async fn wait(
    listen: &Address,
    schemes: Arc<Schemes>,
    cache: Arc<ArchiveCache>,
) -> anyhow::Result<PackedBot> {
    let (health, health_service) = tonic_health::server::health_reporter();
    let (tell, taken) = oneshot::channel();
    let host = Host {
        schemes,
        cache,
        health,
        tell: Mutex::new(Some(tell)),
    };
    let router = Server::builder()
        .add_service(health_service)
        .add_service(BotHostServer::new(host));
    serve_until("a bot", router, listen, taken, REPLY_GRACE).await
}

/// Serves without TLS until something has come, and so long besides at most, for replies that are on
/// their way. What is waited for is said.
///
/// # Errors
///
/// The address can't be listened on.
pub async fn serve_until<T>(
    what: &str,
    router: Router,
    listen: &Address,
    came: oneshot::Receiver<T>,
    grace: Duration,
) -> anyhow::Result<T> {
    let (end, ended) = oneshot::channel::<()>();
    let mut serving = Box::pin(serve(what, router, listen, ended));
    let came = tokio::select! {
        served = &mut serving => {
            served?;
            anyhow::bail!("nobody listens on {listen} any more");
        }
        came = came => came?,
    };
    drop(end);
    let _ = timeout(grace, serving).await;
    Ok(came)
}

async fn serve(
    what: &str,
    router: Router,
    listen: &Address,
    ended: oneshot::Receiver<()>,
) -> anyhow::Result<()> {
    let failed = || format!("could not listen on {listen}");
    let ended = async {
        let _ = ended.await;
    };
    match listen {
        Address::Unix(path) => {
            remove_socket(path).with_context(failed)?;
            let listener = UnixListener::bind(path).with_context(failed)?;
            let _removed = OwnSocket(path);
            say(&format!("waiting for {what} on {listen}"))?;
            let incoming = UnixListenerStream::new(listener);
            router.serve_with_incoming_shutdown(incoming, ended).await?;
        }
        Address::Tcp(address) => {
            let listener = TcpListener::bind(address).await.with_context(failed)?;
            say(&format!("waiting for {what} on {listen}"))?;
            let incoming = TcpListenerStream::new(listener);
            router.serve_with_incoming_shutdown(incoming, ended).await?;
        }
        Address::Tls(_) => {
            return usage(format!(
                "--listen {listen}: expected unix:PATH or tcp:HOST:PORT; `referee gate` has TLS"
            ));
        }
    }
    Ok(())
}

/// Our socket, which is removed when this is dropped: also when nobody waits any more.
struct OwnSocket<'a>(&'a Path);

impl Drop for OwnSocket<'_> {
    fn drop(&mut self) {
        if let Err(error) = remove_socket(self.0) {
            tracing::warn!(socket = %self.0.display(), %error, "could not be removed");
        }
    }
}

/// Removes our socket, or one that a process has left which was killed.
fn remove_socket(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.file_type().is_socket() => fs::remove_file(path),
        _ => Ok(()),
    }
}

/// A packed bot that a host may become.
#[derive(Clone)]
struct PackedBot {
    /// Its SPEC, parsed.
    entry: Entry,
    /// Its archive.
    hash: ArchiveHash,
}

/// The service of a host.
struct Host {
    schemes: Arc<Schemes>,
    cache: Arc<ArchiveCache>,
    health: HealthReporter,
    /// Is told of the bot that was taken.
    tell: Mutex<Option<oneshot::Sender<PackedBot>>>,
}

#[tonic::async_trait]
impl BotHost for Host {
    async fn take_bot(
        &self,
        request: Request<Streaming<TakeBotRequest>>,
    ) -> Result<Response<TakeBotReply>, Status> {
        let mut messages = request.into_inner();
        let first = messages.message().await?.and_then(|first| first.message);
        let Some(Message::Spec(spec)) = first else {
            return Err(Status::invalid_argument("expected the SPEC of a bot first"));
        };
        let bot = PackedBot::read(&spec, &self.schemes).map_err(Status::invalid_argument)?;
        let mut archive = Vec::new();
        while let Some(message) = messages.message().await? {
            let Some(Message::Part(part)) = message.message else {
                return Err(Status::invalid_argument("expected a part of an archive"));
            };
            if (archive.len() + part.len()) as u64 > MOST_PACKED_BYTES {
                return Err(Status::invalid_argument("the archive is too large"));
            }
            archive.extend_from_slice(&part);
        }
        let (cache, kept) = (self.cache.clone(), bot.clone());
        let unpacked = tokio::task::spawn_blocking(move || kept.keep(&cache, &archive));
        let unpacked = unpacked.await.map_err(|_| Status::internal("a panic"))?;
        unpacked.map_err(Status::invalid_argument)?;
        let Some(tell) = self.tell.lock().take() else {
            return Err(Status::failed_precondition("this host has its bot"));
        };
        // Whoever looks for the bot does not take us for it.
        self.health
            .set_service_status("", ServingStatus::NotServing)
            .await;
        let _ = tell.send(bot);
        Ok(Response::new(TakeBotReply {}))
    }
}

impl PackedBot {
    /// The bot of a SPEC, if it is a packed one.
    fn read(spec: &str, schemes: &Schemes) -> Result<Self, String> {
        let expected = || format!("{spec}: expected packed:HASH:SPEC");
        if !spec.starts_with("packed:") {
            return Err(expected());
        }
        let entry = Entry::read(&format!("bot={spec}"), schemes);
        let entry = entry.map_err(|error| error.to_string())?;
        let hash = *entry.launcher().archive().ok_or_else(expected)?;
        Ok(Self { entry, hash })
    }

    /// Unpacks its archive, and notes that it is ours.
    fn keep(&self, cache: &ArchiveCache, archive: &[u8]) -> Result<(), String> {
        (cache.insert(&self.hash, archive)).map_err(|error| referee::causes(&error))?;
        let taken = cache.folder().join(TAKEN);
        let unfinished = taken.with_extension("unfinished");
        fs::write(&unfinished, &self.entry.spec)
            .and_then(|()| fs::rename(&unfinished, &taken))
            .map_err(|error| format!("could not write {}: {error}", taken.display()))
    }

    /// Runs its program in the place of this one; comes back where it can't.
    fn run_in_our_place(&self, cache: &ArchiveCache) -> anyhow::Result<anyhow::Error> {
        let (held, reach) = (cache.get(&self.hash)?, self.entry.launcher().reach());
        let (Some(held), Reach::Program { program, arguments }) = (held, reach) else {
            anyhow::bail!("the archive of {} is not here any more", self.entry.spec);
        };
        let error = Command::new(&program)
            .args(arguments)
            .current_dir(held.files())
            .exec();
        Ok(anyhow::Error::new(error).context(format!("could not run {}", program.display())))
    }
}

/// The program that plays compiled strategies beside this one, if there is one: a static program
/// can't load what others have compiled.
pub(crate) fn strategy_program(ours: &Path) -> Option<PathBuf> {
    let program = ours.with_file_name("strategy");
    program.is_file().then_some(program)
}
