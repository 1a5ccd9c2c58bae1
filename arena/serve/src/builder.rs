//! `arena-serve builder`: the program of a container that builds one entry of a contest, for an arena
//! elsewhere, and then hosts what was built ([`HostArgs`]).
//!
//! What builds is the contestant's: it has the user and the files of this program. So this one is the
//! first process of its container, which no other one in it can kill; none can trace it, since it can't be
//! dumped (prctl(2), PR_SET_DUMPABLE); and it answers one call.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arena_build::Toolchain;
use arena_contest::{BuildFailure, BuildJob, BuiltEntry};
use arena_proto::arena::v1::{
    BuildBotReply, BuildBotRequest, BuildFault, BuiltBot,
    bot_builder_server::{BotBuilder, BotBuilderServer},
    build_bot_reply::Message,
    build_bot_request,
};
use clap::Args;
use parking_lot::Mutex;
use referee::parts;
use referee_cli::{End, HostArgs, sandbox::SandboxArgs, serve_until, stop};
use referee_sandbox::Sandbox;
use tokio::sync::oneshot;
use tokio_stream::Iter;
use tonic::{Request, Response, Status, Streaming, transport::Server};
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::contest::{build_here, toolchain};

/// Longest time until the arena has what was built.
const SENT_WITHIN: Duration = Duration::from_mins(1);
/// The most bytes that a contest lets anybody hand in.
const MOST_BYTES: u64 = 8 << 20;

/// Where a builder listens, and with what it builds.
#[derive(Args)]
pub(crate) struct BuilderArgs {
    #[command(flatten)]
    host: HostArgs,
    /// A checkout of Bot Arena whose kits are built, for entries that use a kit.
    #[arg(long, env = "ARENA_KITS", value_name = "FOLDER")]
    kits: Option<PathBuf>,
    /// How much memory its container has, in bytes.
    #[arg(long = "memory", env = "BOT_MEMORY_LIMIT", value_name = "BYTES")]
    memory: Option<u64>,
    #[command(flatten)]
    sandbox: SandboxArgs,
}

impl BuilderArgs {
    /// Builds one entry, and then waits for its bot and becomes it.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        if !self.host.has_bot()? {
            nix::sys::prctl::set_dumpable(false)?;
            let stop = stop::at_once_on_signals()?;
            tokio::select! {
                built = self.build_one() => built?,
                () = stop.cutting_off() => return Ok(End::Done),
            }
        }
        self.host.run().await
    }

    async fn build_one(&self) -> anyhow::Result<()> {
        let (tell, built) = oneshot::channel();
        let (health, health_service) = tonic_health::server::health_reporter();
        let builder = Builder {
            health,
            toolchain: Arc::new(toolchain(self.kits.as_deref())?),
            sandbox: self.sandbox.probe()?,
            memory: self.memory,
            tell: Mutex::new(Some(tell)),
        };
        let router = Server::builder()
            .add_service(health_service)
            .add_service(BotBuilderServer::new(builder));
        let listen = self.host.listen();
        serve_until("sources", router, listen, built, SENT_WITHIN).await
    }
}

/// The service of a builder.
struct Builder {
    health: HealthReporter,
    toolchain: Arc<Toolchain>,
    sandbox: Arc<Sandbox>,
    memory: Option<u64>,
    /// Is told that the one call is answered.
    tell: Mutex<Option<oneshot::Sender<()>>>,
}

type Replies = Box<dyn Iterator<Item = Result<BuildBotReply, Status>> + Send>;

/// Tells a build that nobody waits for it any more.
struct EndsWhenDropped(Arc<AtomicBool>);

impl Drop for EndsWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tonic::async_trait]
impl BotBuilder for Builder {
    type BuildBotStream = Iter<Replies>;

    async fn build_bot(
        &self,
        request: Request<Streaming<BuildBotRequest>>,
    ) -> Result<Response<Self::BuildBotStream>, Status> {
        let job = job(request.into_inner()).await?;
        let Some(tell) = self.tell.lock().take() else {
            return Err(Status::failed_precondition("this builder has its sources"));
        };
        let (toolchain, sandbox) = (self.toolchain.clone(), self.sandbox.clone());
        let memory = self.memory;
        let ends = EndsWhenDropped(Arc::default());
        let told = ends.0.clone();
        let build = move || build_here(&job, &toolchain, &sandbox, memory, &told);
        let built = tokio::task::spawn_blocking(build).await;
        // Whoever looks for the host does not take us for it.
        self.health
            .set_service_status("", ServingStatus::NotServing)
            .await;
        let _ = tell.send(());
        let (first, archive) = match built {
            Ok(Ok(BuiltEntry {
                spec, log, packed, ..
            })) => (Message::Bot(BuiltBot { spec, log }), packed),
            Ok(Err(BuildFailure::Theirs { fault, log })) => {
                let fault = BuildFault {
                    verdict: fault.verdict,
                    words: fault.words,
                    log,
                };
                (Message::Fault(fault), Vec::new())
            }
            Ok(Err(BuildFailure::Ours(why))) => return Err(Status::internal(why)),
            Err(panicked) => return Err(Status::internal(panicked.to_string())),
        };
        let messages = std::iter::once(first).chain(parts(archive.into()).map(Message::Part));
        let replies = messages.map(|message| {
            Ok(BuildBotReply {
                message: Some(message),
            })
        });
        let replies: Replies = Box::new(replies);
        Ok(Response::new(tokio_stream::iter(replies)))
    }
}

/// The sources, as they come.
async fn job(mut requests: Streaming<BuildBotRequest>) -> Result<BuildJob, Status> {
    let first = requests.message().await?.and_then(|first| first.message);
    let Some(build_bot_request::Message::Sources(sources)) = first else {
        return Err(Status::invalid_argument(
            "expected what the sources are first",
        ));
    };
    let mut bytes = Vec::new();
    while let Some(BuildBotRequest { message }) = requests.message().await? {
        let Some(build_bot_request::Message::Part(part)) = message else {
            return Err(Status::invalid_argument("expected a part of the sources"));
        };
        if (bytes.len() + part.len()) as u64 > MOST_BYTES {
            return Err(Status::invalid_argument("the sources are too large"));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(BuildJob {
        entry: String::new(),
        file: sources.file,
        bytes,
        game: sources.game,
        upload: sources.most_bytes,
    })
}
