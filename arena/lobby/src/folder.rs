//! The folder of a lobby: a socket for each bot that attends, and what is known of it. The arena
//! that serves writes here; whoever plays finds the sockets by the bots' names.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{DirBuilderExt as _, PermissionsExt as _},
    },
    path::{Path, PathBuf},
};

use referee_net::NamedTokens;
use tokio::net::UnixListener;

use crate::Attendant;

/// The most bytes of a socket's path (unix(7)).
const LONGEST_PATH: usize = 107;
/// The file that an arena holds locked as long as the folder is its own.
const LOCK: &str = "lock";
/// The largest file about a bot that is read, in bytes.
const LARGEST: u64 = 64 * 1024;

/// The folder of a lobby.
#[derive(Clone, Debug)]
pub struct LobbyFolder(PathBuf);

/// Reason why there is no lobby.
#[derive(Debug, thiserror::Error)]
pub enum LobbyError {
    /// The folder can't be made or used.
    #[error("could not use {} as the folder of the lobby: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Another process has it.
    #[error(
        "the lobby in {} belongs to another arena that runs: give one of them another folder \
         (ARENA_LOBBY)",
        .0.display()
    )]
    Taken(PathBuf),
    /// A socket in it would have too long a path.
    #[error(
        "{} is too long for a socket, which may have {LONGEST_PATH} bytes: name a shorter folder \
         (ARENA_LOBBY)",
        .0.display()
    )]
    Long(PathBuf),
}

impl LobbyFolder {
    /// The lobby in this folder, which need not be there.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The bots that attend, by name.
    #[must_use]
    pub fn attendants(&self) -> Vec<Attendant> {
        let Ok(entries) = fs::read_dir(&self.0) else {
            return Vec::new();
        };
        if !self.is_held() {
            return Vec::new();
        }
        let files = entries.flatten().map(|entry| entry.path());
        let files = files.filter(|file| file.extension().is_some_and(|end| end == "json"));
        // One may have left in this moment.
        let mut found: Vec<Attendant> = files.filter_map(|file| read(&file)).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// True if there is an arena whose folder it is: what a dead one has left is of no use.
    #[expect(
        clippy::disallowed_methods,
        reason = "it is a file of ours, and not read"
    )]
    fn is_held(&self) -> bool {
        let lock = File::open(self.0.join(LOCK));
        lock.is_ok_and(|lock| lock.try_lock_shared().is_err())
    }

    /// Makes the folder so that nobody else can read it, and holds it as long as the file is open.
    /// What another arena has left there is removed.
    pub(crate) fn hold(&self, names: &[String]) -> Result<File, LobbyError> {
        let held = self.try_hold().map_err(|error| LobbyError::Folder {
            path: self.0.clone(),
            error,
        })?;
        let held = held.ok_or_else(|| LobbyError::Taken(self.0.clone()))?;
        let sockets = names.iter().map(|name| self.socket(name));
        let is_long = |path: &PathBuf| path.as_os_str().as_bytes().len() > LONGEST_PATH;
        match sockets.into_iter().find(is_long) {
            Some(path) => Err(LobbyError::Long(path)),
            None => Ok(held),
        }
    }

    fn try_hold(&self) -> io::Result<Option<File>> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0)?;
        let lock = self.0.join(LOCK);
        // What lies in another folder is not ours to remove.
        if !lock.exists() && fs::read_dir(&self.0)?.next().is_some() {
            return Err(io::Error::other(
                "it has other files: expected a new or an empty folder in ARENA_LOBBY",
            ));
        }
        let file = File::create(lock)?;
        if file.try_lock().is_err() {
            return Ok(None);
        }
        fs::set_permissions(&self.0, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&self.0)? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|end| end == "sock" || end == "json")
            {
                fs::remove_file(path)?;
            }
        }
        Ok(Some(file))
    }

    /// The socket of a bot.
    #[must_use]
    pub fn socket(&self, name: &str) -> PathBuf {
        NamedTokens::socket(&self.0, name)
    }

    fn about(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }

    /// Listens at the socket of a bot. Who listened there before gets no further connection.
    pub(crate) fn listen(&self, name: &str) -> io::Result<UnixListener> {
        let path = self.socket(name);
        let _ = fs::remove_file(&path);
        UnixListener::bind(path)
    }

    /// Nothing answers at the socket of a bot any more.
    pub(crate) fn close(&self, name: &str) {
        for path in [self.socket(name), self.about(name)] {
            let _ = fs::remove_file(path);
        }
    }

    /// Writes down what is known of a bot.
    pub(crate) fn note(&self, bot: &Attendant) -> io::Result<()> {
        let path = self.about(&bot.name);
        let new = path.with_extension("new");
        fs::write(&new, serde_json::to_vec(bot)?)?;
        fs::rename(new, path)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "it is a file of ours, read within bounds"
)]
fn read(file: &Path) -> Option<Attendant> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = File::open(file).ok()?;
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}
