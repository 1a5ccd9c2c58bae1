//! Makes a program of an image ready to start.

use std::{
    fs, io,
    os::{
        fd::OwnedFd,
        unix::{fs::chown, net::UnixStream},
    },
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
};

use nix::unistd::{getegid, geteuid};
use referee_sandbox::{Creator, Reexec, ResourceLimits};
use serde::Serialize;
use tokio::sync::OnceCell;

use crate::{
    engine::{ContainerEngine, EngineError, find_socket},
    image::{ContainerImage, ImageName},
    plan::ContainerPlan,
    session::ContainerSession,
};

/// The first of the users that programs run as. No system gives them to people or services, and
/// no two programs that run at the same time have the same one.
const FIRST_USER: u64 = 0x7000_0000;
const USERS: u64 = 0x100_0000;
/// The path at which a program sees the folder for its socket.
const SOCKETS: &str = "/run/bot";

/// Programs of this process in containers of the machine's engine, which is looked for when it
/// is needed.
#[derive(Debug)]
pub struct Containers {
    engine: OnceCell<ContainerEngine>,
    reexec: Reexec,
    creator: Creator,
}

/// A program of an image.
#[derive(Clone, Debug)]
pub struct ContainerProgram {
    /// Its image.
    pub image: ImageName,
    /// Its arguments; those of the image where there are none.
    pub arguments: Vec<String>,
    /// The folder for its socket, which it sees at [`Containers::socket_folder_inside`]. It
    /// becomes the program's own.
    pub socket_folder: PathBuf,
    /// Its variables, beside those of the image.
    pub environment: Vec<(String, String)>,
    /// Variables that it has where its image does not set them.
    pub defaults: Vec<(String, String)>,
    /// Resources that it may take.
    pub limits: ResourceLimits,
    /// The cores that it may use; all of them, if there is no list.
    pub cores: Option<Vec<usize>>,
}

/// A program that is ready to start.
#[derive(Debug)]
pub struct PreparedContainer {
    /// Starts it. Standard output and error may be set, and are the program's; standard input
    /// is taken. Drop it after the start.
    ///
    /// Its process stands for the program: SIGTERM and SIGINT are passed on, SIGQUIT kills the
    /// program. It must not be killed itself, and ends when the session is dropped.
    pub command: Command,
    /// Keep this as long as the program shall run.
    pub session: ContainerSession,
}

impl Containers {
    /// The calling program is started again for each program, and must call [`crate::enter`]
    /// then.
    ///
    /// # Errors
    ///
    /// `/proc` can't be read.
    pub fn new(reexec: Reexec) -> io::Result<Self> {
        Ok(Self {
            engine: OnceCell::new(),
            reexec,
            creator: Creator::this_process()?,
        })
    }

    /// The engine. When it is found, what processes that are gone have left there is removed.
    ///
    /// # Errors
    ///
    /// There is none, or it does not answer. It is looked for again the next time.
    pub async fn engine(&self) -> Result<&ContainerEngine, EngineError> {
        let found = self.engine.get_or_try_init(|| async {
            let engine = ContainerEngine::connect(&find_socket()?).await?;
            match engine.sweep().await {
                Ok(0) => {}
                Ok(removed) => tracing::info!(removed, "containers of an earlier run are removed"),
                Err(error) => tracing::warn!(%error, "could not look for containers that are left"),
            }
            Ok(engine)
        });
        found.await
    }

    /// The same name of the image that it is now: whoever is given the name later, it means this
    /// one.
    ///
    /// # Errors
    ///
    /// There is no engine, or it has no such image.
    pub async fn pin(&self, name: &ImageName) -> Result<ImageName, EngineError> {
        let image = self.engine().await?.image(name).await?;
        Ok(match name.digest {
            Some(_) => name.clone(),
            None => name.pinned(&image),
        })
    }

    /// The path at which a program sees the folder for its socket.
    #[must_use]
    pub const fn socket_folder_inside() -> &'static str {
        SOCKETS
    }

    /// The walls around its programs, in words.
    #[must_use]
    pub fn walls(&self) -> String {
        let Some(engine) = self.engine.get() else {
            return "container".to_owned();
        };
        let about = engine.about();
        let root = if about.rootless { ", without root" } else { "" };
        let cgroups = &about.cgroups;
        format!("container ({about}{root}, cgroup v{cgroups})")
    }

    /// A command that starts a program in a container.
    ///
    /// # Errors
    ///
    /// There is no engine, it has no such image, or the system fails.
    pub async fn prepare(
        &self,
        program: &ContainerProgram,
    ) -> Result<PreparedContainer, EngineError> {
        let engine = self.engine().await?;
        let image = engine.image(&program.image).await?;
        let prepared = self.prepare_with(engine, image, program);
        prepared.map_err(|error| EngineError::Failed(error.to_string()))
    }

    fn prepare_with(
        &self,
        engine: &ContainerEngine,
        image: ContainerImage,
        program: &ContainerProgram,
    ) -> io::Result<PreparedContainer> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (user, keeps_user) = user(engine, number, program)?;
        let defaults = program.defaults.iter();
        let defaults = defaults.filter(|(name, _)| !image.variables.contains(name));
        let environment = program.environment.iter().chain(defaults);
        let cores = program.cores.as_ref().map(|cores| {
            let cores: Vec<String> = cores.iter().map(usize::to_string).collect();
            cores.join(",")
        });
        let name = self.creator.name(&number.to_string());
        let plan = ContainerPlan {
            engine: engine.socket().to_owned(),
            name: name.clone(),
            image: image.id,
            arguments: program.arguments.clone(),
            environment: environment
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
            socket_folder: fs::canonicalize(&program.socket_folder)?,
            socket_folder_inside: SOCKETS.to_owned(),
            user,
            keeps_user,
            limits: program.limits.clone(),
            cores,
        };
        let (ours, theirs) = UnixStream::pair()?;
        send(&ours, &plan)?;
        let mut command = Command::new(&self.reexec.program);
        command
            .args(&self.reexec.verb)
            .env_clear()
            .stdin(OwnedFd::from(theirs));
        Ok(PreparedContainer {
            command,
            session: ContainerSession::new(ours, engine.clone(), name)?,
        })
    }
}

/// The user that a program runs as, to whom the folder of its socket is given; and whether that
/// is a number of ours inside too. Only root can give a folder away, and reach the socket of
/// somebody else in it: for others it is this user.
fn user(
    engine: &ContainerEngine,
    number: u64,
    program: &ContainerProgram,
) -> io::Result<(String, bool)> {
    let (user, group) = (geteuid(), getegid());
    let about = engine.about();
    if user.is_root() && !about.rootless {
        let process = u64::from(std::process::id());
        let own = FIRST_USER + (process.wrapping_mul(4096) + number) % USERS;
        let own = u32::try_from(own).map_err(io::Error::other)?;
        chown(&program.socket_folder, Some(own), Some(own))?;
        return Ok((format!("{own}:{own}"), false));
    }
    // Docker without root calls its own user 0 in containers.
    if about.rootless && about.name == "docker" {
        return Ok(("0:0".to_owned(), false));
    }
    Ok((format!("{user}:{group}"), about.rootless))
}

/// Writes a message before anybody reads it: it must fit into the socket.
fn send(stream: &UnixStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.set_nonblocking(true)?;
    io::Write::write_all(&mut &*stream, &line).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::new(
            error.kind(),
            "its arguments and environment are too large for a container",
        ),
        _ => error,
    })
}
