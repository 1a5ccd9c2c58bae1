//! The engine on this machine: whether it answers, what it can do, which images it has.

use std::{
    collections::{BTreeSet, HashMap},
    env, fmt, io,
    path::{Path, PathBuf},
    time::Duration,
};

use bollard::{
    API_DEFAULT_VERSION, Docker,
    errors::Error,
    models::ImageInspect,
    query_parameters::{
        ListContainersOptionsBuilder, ListImagesOptions, RemoveContainerOptionsBuilder,
    },
};
use referee_sandbox::{Cgroup, Creator, is_lack};

use crate::image::{ContainerImage, ImageName, is_digest};

/// The variable that other programs find their engine by.
const VARIABLE: &str = "DOCKER_HOST";
/// Longest time until the engine says that it is there.
const FIRST_ANSWER: Duration = Duration::from_secs(10);
/// Longest time for anything else, in seconds. It may be busy with other containers.
const ANSWER: u64 = 60;
/// Number of times that we look whether a removal that goes on has come to its end.
const REMOVAL_LOOKS: u32 = 50;
const REMOVAL_PAUSE: Duration = Duration::from_millis(100);
/// The label of containers that we start; its value says who did.
pub(crate) const CREATOR: &str = "bot-arena.creator";

/// An engine that answers.
#[derive(Clone, Debug)]
pub struct ContainerEngine {
    pub(crate) docker: Docker,
    socket: PathBuf,
    about: About,
}

/// An engine's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// `docker` or `podman`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of cgroups that it uses.
    pub cgroups: String,
    /// True if it runs as an ordinary user.
    pub rootless: bool,
}

/// An engine can't do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// There is no socket of one.
    #[error(
        "found no container engine: expected its socket at {expected}. Start Docker \
         (`systemctl start docker`) or Podman (`systemctl --user start podman.socket`), or name \
         its socket: DOCKER_HOST=unix:///PATH"
    )]
    NotFound {
        /// The places where one was looked for.
        expected: String,
    },
    /// The address of one is of a kind that won't do.
    #[error(
        "DOCKER_HOST={0}: expected unix:///PATH. The bots' sockets are on this machine, so the \
         engine must be"
    )]
    Elsewhere(String),
    /// It does not answer.
    #[error(
        "the container engine at {} does not answer: {why}. Is it running, and may this user use \
         its socket (group docker)?",
        socket.display()
    )]
    Silent {
        /// Its socket.
        socket: PathBuf,
        /// The error.
        why: String,
    },
    /// It has no such image.
    #[error(
        "{engine} has no image {image}; expected `{program} pull {image}`, `{program} build -t \
         {image} FOLDER` or `{program} load` before"
    )]
    NoImage {
        /// The engine in words.
        engine: String,
        /// The program that commands it.
        program: String,
        /// The image that was looked for.
        image: String,
    },
    /// It refuses, or breaks.
    #[error("the container engine failed: {0}")]
    Failed(String),
}

impl From<Error> for EngineError {
    fn from(error: Error) -> Self {
        Self::Failed(told(&error))
    }
}

/// The message of the engine, without the words around it.
pub(crate) fn told(error: &Error) -> String {
    match error {
        Error::DockerResponseServerError { message, .. } => message.trim().to_owned(),
        other => other.to_string(),
    }
}

/// The socket of the engine: as DOCKER_HOST says, or where Docker and Podman have theirs.
///
/// # Errors
///
/// [`EngineError::NotFound`], [`EngineError::Elsewhere`].
pub fn find_socket() -> Result<PathBuf, EngineError> {
    if let Some(host) = env::var(VARIABLE).ok().filter(|host| !host.is_empty()) {
        let path = host.strip_prefix("unix://").map(PathBuf::from);
        return path.ok_or(EngineError::Elsewhere(host));
    }
    let own = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = own.iter().flat_map(|folder| {
        let docker = folder.join("docker.sock");
        [docker, folder.join("podman/podman.sock")]
    });
    let places: Vec<PathBuf> = ["/var/run/docker.sock", "/run/podman/podman.sock"]
        .into_iter()
        .map(PathBuf::from)
        .chain(own)
        .collect();
    let found = places.iter().find(|place| place.exists()).cloned();
    found.ok_or_else(|| {
        let places: Vec<String> = places.iter().map(|at| at.display().to_string()).collect();
        EngineError::NotFound {
            expected: places.join(" or "),
        }
    })
}

impl ContainerEngine {
    /// The engine at a socket, when it answers.
    ///
    /// # Errors
    ///
    /// [`EngineError::Silent`].
    pub async fn connect(socket: &Path) -> Result<Self, EngineError> {
        let silent = |why: String| EngineError::Silent {
            socket: socket.to_owned(),
            why,
        };
        let docker = open(socket).map_err(|error| silent(told(&error)))?;
        let asked = async {
            let docker = docker.negotiate_version().await?;
            let about = About::of(&docker).await?;
            Ok::<_, Error>((docker, about))
        };
        let answered = tokio::time::timeout(FIRST_ANSWER, asked).await;
        let (docker, about) = answered
            .map_err(|_| silent(format!("no answer within {FIRST_ANSWER:?}")))?
            .map_err(|error| silent(told(&error)))?;
        Ok(Self {
            docker,
            socket: socket.to_owned(),
            about,
        })
    }

    /// The path of the socket that it listens on.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its description of itself.
    #[must_use]
    pub const fn about(&self) -> &About {
        &self.about
    }

    /// The image of this name.
    ///
    /// # Errors
    ///
    /// [`EngineError::NoImage`], or the engine fails.
    pub async fn image(&self, name: &ImageName) -> Result<ContainerImage, EngineError> {
        for reference in name.references() {
            match self.docker.inspect_image(&reference).await {
                Ok(found) => return Ok(image(found)),
                Err(Error::DockerResponseServerError {
                    status_code: 404, ..
                }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(EngineError::NoImage {
            engine: self.about.to_string(),
            program: self.about.name.clone(),
            image: name.to_string(),
        })
    }

    /// The numbers and digests of all images that are here.
    ///
    /// # Errors
    ///
    /// The engine fails.
    pub async fn digests(&self) -> Result<BTreeSet<String>, EngineError> {
        let images = self.docker.list_images(None::<ListImagesOptions>).await?;
        let known = images.into_iter().flat_map(|one| {
            let digests = one
                .repo_digests
                .into_iter()
                .filter_map(|text| digest(&text));
            digests.chain([one.id]).collect::<Vec<_>>()
        });
        Ok(known.collect())
    }

    /// Removes the containers that processes which are gone have left, and says how many.
    ///
    /// # Errors
    ///
    /// The engine fails.
    pub async fn sweep(&self) -> Result<usize, EngineError> {
        let this =
            Creator::this_process().map_err(|error| EngineError::Failed(error.to_string()))?;
        let labels = HashMap::from([("label".to_owned(), vec![CREATOR.to_owned()])]);
        let asked = ListContainersOptionsBuilder::default()
            .all(true)
            .filters(&labels)
            .build();
        let mut removed = 0;
        for one in self.docker.list_containers(Some(asked)).await? {
            let label = one.labels.as_ref().and_then(|labels| labels.get(CREATOR));
            let creator = label.and_then(|label| Creator::of(label));
            if let (Some(creator), Some(id)) = (creator, one.id)
                && creator.is_gone(&this)
            {
                self.remove(&id).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Kills and removes a container, whether it runs or not. One that is not there is no error.
    ///
    /// # Errors
    ///
    /// The engine fails.
    pub async fn remove(&self, container: &str) -> Result<(), EngineError> {
        // With cgroups of version 1 what is held still does not end.
        if let Ok(about) = self.docker.inspect_container(container, None).await
            && let Ok(Some(process)) = process_of(&about)
            && let Ok(cgroup) = Cgroup::of_process(process)
        {
            let _ = cgroup.thaw();
        }
        let force = RemoveContainerOptionsBuilder::default()
            .force(true)
            .v(true)
            .build();
        for _ in 0..REMOVAL_LOOKS {
            let force = force.clone();
            match self.docker.remove_container(container, Some(force)).await {
                Ok(())
                | Err(Error::DockerResponseServerError {
                    status_code: 404, ..
                }) => return Ok(()),
                // Somebody else removes it just now, which may fail.
                Err(Error::DockerResponseServerError {
                    status_code: 409, ..
                }) => tokio::time::sleep(REMOVAL_PAUSE).await,
                Err(error) => return Err(error.into()),
            }
        }
        Err(EngineError::Failed(format!(
            "the removal of container {container} does not come to an end"
        )))
    }
}

/// A connection to an engine, which opens a socket for each request.
pub(crate) fn open(socket: &Path) -> Result<Docker, Error> {
    Docker::connect_with_unix(&socket.to_string_lossy(), ANSWER, API_DEFAULT_VERSION)
}

/// The process that a container began with, as this machine numbers it, where this process
/// sees it: an engine elsewhere, or outside of our own container, has other numbers.
///
/// # Errors
///
/// It could not be looked at: this process may not open another file, for instance.
#[expect(clippy::disallowed_methods, reason = "the kernel tells it")]
pub(crate) fn process_of(
    about: &bollard::models::ContainerInspectResponse,
) -> io::Result<Option<u32>> {
    let process = about.state.as_ref().and_then(|state| state.pid);
    let process = process.and_then(|process| u32::try_from(process).ok());
    let (Some(id), Some(process @ 1..)) = (about.id.as_deref(), process) else {
        return Ok(None);
    };
    match std::fs::read_to_string(format!("/proc/{process}/cgroup")) {
        Ok(cgroups) => Ok(cgroups.contains(id).then_some(process)),
        Err(error) if is_lack(&error) => Err(error),
        // There is none such, or it is not ours.
        Err(_) => Ok(None),
    }
}

/// The cgroup of the process that a container began with, as far as it can be seen.
///
/// # Errors
///
/// As for [`process_of`].
pub(crate) fn cgroup_of(process: Option<u32>) -> io::Result<Option<Cgroup>> {
    match process.map(Cgroup::of_process).transpose() {
        Ok(cgroup) => Ok(cgroup),
        Err(error) if is_lack(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

fn image(found: ImageInspect) -> ContainerImage {
    let digests = found.repo_digests.unwrap_or_default();
    let variables = found
        .config
        .and_then(|config| config.env)
        .unwrap_or_default();
    let name = |variable: String| variable.split('=').next().map(str::to_owned);
    ContainerImage {
        id: found.id.unwrap_or_default(),
        variables: variables.into_iter().filter_map(name).collect(),
        digests: digests.iter().filter_map(|text| digest(text)).collect(),
    }
}

/// The digest in `NAME@sha256:DIGEST`.
fn digest(text: &str) -> Option<String> {
    let (_, digest) = text.split_once('@')?;
    is_digest(digest).then(|| digest.to_owned())
}

impl About {
    async fn of(docker: &Docker) -> Result<Self, Error> {
        let (version, info) = (docker.version().await?, docker.info().await?);
        let components = version.components.unwrap_or_default();
        let is_podman = components
            .iter()
            .any(|component| component.name.to_lowercase().contains("podman"));
        let options = info.security_options.unwrap_or_default();
        Ok(Self {
            name: if is_podman { "podman" } else { "docker" }.to_owned(),
            version: version.version.unwrap_or_default(),
            cgroups: info
                .cgroup_version
                .map_or_else(|| "1".to_owned(), |version| version.to_string()),
            rootless: options.iter().any(|option| option.contains("rootless")),
        })
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}
