//! The process that stands for a container: it creates and starts it, passes its output and
//! signals on, and removes it, whatever way this ends.

use std::{
    cell::Cell,
    fs,
    io::{self, stdin},
    os::{fd::AsFd as _, unix::fs::MetadataExt as _, unix::net::UnixStream},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use bollard::{
    container::{AttachContainerResults, LogOutput},
    errors::Error,
    models::ContainerWaitResponse,
    query_parameters::{
        AttachContainerOptionsBuilder, CreateContainerOptionsBuilder, KillContainerOptionsBuilder,
        WaitContainerOptionsBuilder,
    },
};
use futures_util::StreamExt as _;
use nix::{libc, sys::prctl};
use referee_sandbox::Cgroup;
use tokio::{
    io::AsyncWriteExt as _,
    signal::unix::{SignalKind, signal},
    time::MissedTickBehavior,
};

use crate::{
    engine::{ContainerEngine, cgroup_of, process_of, told},
    plan::{ContainerEnd, ContainerPlan, MonitorReport},
    session::Messages,
};

/// Longest time for the rest of its output to arrive when it has ended.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);
/// Longest time that an engine goes on itself after it has ended its containers.
const ENGINE_STOP: Duration = Duration::from_secs(2);
/// Longest time for creating and starting.
const START: Duration = Duration::from_secs(120);
/// Interval between two looks at the folder of its socket, and what may be in it beside the socket.
const FOLDER_CHECK: Duration = Duration::from_millis(100);
const FOLDER_BYTES: u64 = 1 << 20;
const FOLDER_FILES: usize = 64;
/// No container runs for longer.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// Codes above this one say that a signal has ended the program.
const SIGNALED: i32 = 128;

/// Runs a container: the program that [`crate::Containers`] starts must call this for the verb
/// that was named to it, and exit with what it gives.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the monitor is a process of its own"
)]
pub fn enter() -> ExitCode {
    // Others of the same user must not read what it knows of the engine.
    let _ = prctl::set_dumpable(false);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = runtime.and_then(|runtime| runtime.block_on(serve()));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let text = "this verb is for containers, and is started by the program itself";
            let _ =
                io::Write::write_all(&mut io::stderr(), format!("{text}: {error}\n").as_bytes());
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> io::Result<()> {
    let stream = UnixStream::from(stdin().as_fd().try_clone_to_owned()?);
    stream.peer_addr()?;
    let mut above = Messages::new(stream)?;
    let Some(plan) = above.next::<ContainerPlan>().await? else {
        // The other side is gone before it has said anything.
        return Ok(());
    };
    let ended = run(plan, &mut above).await?;
    // Nobody may be there any more.
    let _ = above.send(&ended).await;
    Ok(())
}

async fn run(plan: ContainerPlan, above: &mut Messages) -> io::Result<MonitorReport> {
    let mut signals = PassedSignals::new()?;
    let engine = match ContainerEngine::connect(&plan.engine).await {
        Ok(engine) => engine,
        Err(error) => {
            return Ok(MonitorReport::Ended {
                end: ContainerEnd::NotStarted(error.to_string()),
                removed: true,
            });
        }
    };
    let name = plan.name.clone();
    let monitor = Monitor {
        engine,
        plan,
        has_signaled: Cell::new(false),
    };
    let end = monitor.watch(above, &mut signals).await;
    // It may have been created, whatever was heard of it.
    let removed = monitor.engine.remove(&name).await.is_ok();
    Ok(MonitorReport::Ended { end, removed })
}

struct Monitor {
    engine: ContainerEngine,
    plan: ContainerPlan,
    /// True if the container was told to end by us.
    has_signaled: Cell<bool>,
}

/// A container that runs.
struct RunningContainer {
    output: AttachContainerResults,
    /// The process that it began with, where this machine sees it.
    process: Option<u32>,
    /// The cgroup that may hold it still: it is let go before it is told anything.
    cgroup: Option<Cgroup>,
}

/// The signals that are passed on, and the one that kills.
struct PassedSignals {
    term: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    quit: tokio::signal::unix::Signal,
}

impl PassedSignals {
    #[expect(
        clippy::disallowed_methods,
        reason = "the monitor is a process of its own, which passes signals on"
    )]
    fn new() -> io::Result<Self> {
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// The name of the next one, as the container is to get it.
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.term.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.quit.recv() => "SIGKILL",
        }
    }
}

impl Monitor {
    async fn watch(&self, above: &mut Messages, signals: &mut PassedSignals) -> ContainerEnd {
        let started = tokio::select! {
            started = tokio::time::timeout(START, self.start()) => started,
            () = gone(above) => return killed(),
            _ = signals.next() => return killed(),
        };
        let running = match started {
            Ok(Ok(running)) => running,
            Ok(Err(end)) => return end,
            Err(_) => {
                let engine = self.engine.about();
                return ContainerEnd::NotStarted(format!(
                    "{engine} did not start it within {START:?}"
                ));
            }
        };
        let process = running.process;
        if above
            .send(&MonitorReport::Started { process })
            .await
            .is_err()
        {
            return killed();
        }
        self.play(above, signals, running).await
    }

    /// Creates and starts the container. Its output is taken from the first byte on.
    async fn start(&self) -> Result<RunningContainer, ContainerEnd> {
        let docker = &self.engine.docker;
        let name = &self.plan.name;
        let ours = |error: Error| ContainerEnd::NotStarted(told(&error));
        let named = CreateContainerOptionsBuilder::default().name(name).build();
        let body = crate::walls::container(&self.plan);
        let created = docker.create_container(Some(named), body).await;
        created.map_err(ours)?;
        let attach = AttachContainerOptionsBuilder::default()
            .stream(true)
            .stdout(true)
            .stderr(true)
            .build();
        let attached = docker.attach_container(name, Some(attach)).await;
        let output = attached.map_err(ours)?;
        if let Err(error) = docker.start_container(name, None).await {
            let why = told(&error);
            return Err(if is_its_own(&why) {
                ContainerEnd::NoProgram(why)
            } else {
                ContainerEnd::NotStarted(why)
            });
        }
        let about = docker.inspect_container(name, None).await.map_err(ours)?;
        let looked_at = process_of(&about).and_then(|process| Ok((process, cgroup_of(process)?)));
        let (process, cgroup) =
            looked_at.map_err(|error| ContainerEnd::NotStarted(error.to_string()))?;
        Ok(RunningContainer {
            output,
            process,
            cgroup,
        })
    }

    /// Passes output and signals on until the container has ended.
    async fn play(
        &self,
        above: &mut Messages,
        signals: &mut PassedSignals,
        running: RunningContainer,
    ) -> ContainerEnd {
        let RunningContainer {
            mut output, cgroup, ..
        } = running;
        let thaw = || {
            if let Some(cgroup) = &cgroup {
                let _ = cgroup.thaw();
            }
        };
        // The engine answers when it has ended.
        let patient = self.engine.docker.clone().with_timeout(LONGEST);
        let until = WaitContainerOptionsBuilder::default()
            .condition("not-running")
            .build();
        let waiting = patient.wait_container(&self.plan.name, Some(until));
        tokio::pin!(waiting);
        let mut looks = tokio::time::interval(FOLDER_CHECK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_open = true;
        loop {
            tokio::select! {
                waited = waiting.next() => {
                    if is_open {
                        let rest = pass_on_all(&mut output);
                        let _ = tokio::time::timeout(OUTPUT_GRACE, rest).await;
                    }
                    return self.end(waited).await;
                }
                part = output.output.next(), if is_open => match part {
                    Some(Ok(part)) => pass_on(part).await,
                    Some(Err(_)) | None => is_open = false,
                },
                signal = signals.next() => {
                    thaw();
                    self.signal(signal).await;
                }
                () = gone(above) => {
                    thaw();
                    return killed();
                }
                _ = looks.tick() => {
                    if let Err(why) = look_at(&self.plan.socket_folder) {
                        thaw();
                        return ContainerEnd::Disk(why);
                    }
                }
            }
        }
    }

    async fn signal(&self, signal: &str) {
        self.has_signaled.set(true);
        let options = KillContainerOptionsBuilder::default()
            .signal(signal)
            .build();
        // It may have ended.
        let docker = &self.engine.docker;
        let _ = docker.kill_container(&self.plan.name, Some(options)).await;
    }

    /// The end of the container, when the engine has said that it has ended.
    async fn end(&self, waited: Option<Result<ContainerWaitResponse, Error>>) -> ContainerEnd {
        let docker = &self.engine.docker;
        let about = match docker.inspect_container(&self.plan.name, None).await {
            Ok(about) => about,
            Err(error) => {
                return ContainerEnd::NotStarted(format!(
                    "the engine has lost it: {}",
                    told(&error)
                ));
            }
        };
        let state = about.state;
        if let Some(limit) = self.plan.limits.memory
            && state.as_ref().and_then(|state| state.oom_killed) == Some(true)
        {
            return ContainerEnd::Memory { limit };
        }
        let code = match (state.and_then(|state| state.exit_code), waited) {
            (Some(code), _) => code,
            (None, Some(Ok(response))) => response.status_code,
            (None, Some(Err(Error::DockerContainerWaitError { code, .. }))) => code,
            (None, Some(Err(error))) => return ContainerEnd::NotStarted(told(&error)),
            (None, None) => return ContainerEnd::NotStarted("the engine has lost it".to_owned()),
        };
        let code = i32::try_from(code).unwrap_or(i32::MAX);
        if self.is_stopping(code).await {
            return ContainerEnd::NotStarted("the engine was stopped".to_owned());
        }
        match code - SIGNALED {
            signal @ 1..=64 => ContainerEnd::Signaled(signal),
            _ => ContainerEnd::Exited(code),
        }
    }

    /// True if a container was ended by its engine, which ends all of them when it is stopped
    /// itself: it is gone a moment later.
    async fn is_stopping(&self, code: i32) -> bool {
        const BY_ENGINE: [i32; 3] = [0, SIGNALED + libc::SIGTERM, SIGNALED + libc::SIGKILL];
        if self.has_signaled.get() || !BY_ENGINE.contains(&code) {
            return false;
        }
        tokio::time::sleep(ENGINE_STOP).await;
        self.engine.docker.ping().await.is_err()
    }
}

/// Waits until the process that wants the container is gone, or does not want it any more.
async fn gone(above: &mut Messages) {
    // It says nothing after the plan.
    while let Ok(Some(_)) = above.next::<serde_json::Value>().await {}
}

fn killed() -> ContainerEnd {
    ContainerEnd::Signaled(libc::SIGKILL)
}

/// True if a container could not be started because of what is in its image.
fn is_its_own(why: &str) -> bool {
    [
        "executable file not found",
        "no such file or directory",
        "permission denied",
        "exec format error",
        "no command specified",
    ]
    .iter()
    .any(|own| why.to_lowercase().contains(own))
}

async fn pass_on_all(output: &mut AttachContainerResults) {
    while let Some(Ok(part)) = output.output.next().await {
        pass_on(part).await;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the monitor is a process of its own, whose output is the container's"
)]
async fn pass_on(part: LogOutput) {
    // Whoever started it may not want its output.
    let _ = match part {
        LogOutput::StdErr { message } => {
            let mut err = tokio::io::stderr();
            let written = err.write_all(&message).await;
            written.and(err.flush().await)
        }
        LogOutput::StdOut { message }
        | LogOutput::Console { message }
        | LogOutput::StdIn { message } => {
            let mut out = tokio::io::stdout();
            let written = out.write_all(&message).await;
            written.and(out.flush().await)
        }
    };
}

/// Checks that the folder of its socket holds no more than a socket and a few small files: it
/// is on this machine's disk.
fn look_at(folder: &Path) -> Result<(), String> {
    let (mut bytes, mut files) = (0, 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // A link is looked at itself.
            let Ok(about) = entry.metadata() else {
                continue;
            };
            files += 1;
            bytes += about.blocks() * 512;
            if about.is_dir() {
                folders.push(entry.path());
            }
            if files > FOLDER_FILES || bytes > FOLDER_BYTES {
                return Err(format!(
                    "killed because it wrote more into the folder of its socket than \
                     {FOLDER_FILES} files or {FOLDER_BYTES} bytes"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net::UnixListener};

    use super::*;

    #[test]
    fn the_folder_of_a_socket_has_room_for_a_socket_and_little_more() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let _socket = UnixListener::bind(at("bot.sock")).unwrap();
        // What a link leads to is not its own.
        symlink("/usr", at("link")).unwrap();
        fs::write(at("small"), [1; 1000]).unwrap();
        look_at(folder.path()).unwrap();
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/large"), vec![1; 1 << 20]).unwrap();
        look_at(folder.path()).unwrap_err();
        fs::remove_file(at("deep/large")).unwrap();
        look_at(folder.path()).unwrap();
        for number in 0..FOLDER_FILES {
            fs::write(at(&format!("deep/{number}")), "").unwrap();
        }
        look_at(folder.path()).unwrap_err();
    }
}
