//! The files of an image as an archive that depends on nothing but their contents: sorted,
//! with one time, and with the owners and modes that are meant.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tar::{Builder, EntryType, Header};

use crate::shell::{Result, capture, command};

/// The user that programs in images run as.
pub(super) const USER: u64 = 10001;

/// The messages of `ldd` about a program without libraries.
const STATIC: [&str; 2] = ["statically linked", "not a dynamic executable"];

/// The files of an image, by path without the first slash.
#[derive(Default)]
pub(super) struct Rootfs {
    entries: BTreeMap<String, Entry>,
}

enum Entry {
    Folder { mode: u32, owner: u64 },
    File { from: PathBuf, mode: u32 },
    Text(String),
}

impl Rootfs {
    /// The files that a program needs where there is no other image below it: a user with a name, a
    /// way to look up host names, and a place for temporary files.
    pub(super) fn from_scratch() -> Self {
        let mut root = Self::default();
        root.text(
            "etc/passwd",
            format!("root:x:0:0::/:/sbin/nologin\nbot:x:{USER}:{USER}::/:/sbin/nologin\n"),
        );
        root.text("etc/group", format!("root:x:0:\nbot:x:{USER}:\n"));
        root.text("etc/nsswitch.conf", "hosts: files dns\n".to_owned());
        root.folder("tmp", 0o1777, 0);
        root
    }

    /// A folder with an owner of its own.
    pub(super) fn folder(&mut self, path: &str, mode: u32, owner: u64) {
        self.insert(path, Entry::Folder { mode, owner });
    }

    /// A file with this text.
    pub(super) fn text(&mut self, path: &str, text: String) {
        self.insert(path, Entry::Text(text));
    }

    /// A file of this machine. It can be read by everybody, and run if it can be run here.
    ///
    /// # Errors
    /// It is not there.
    pub(super) fn file(&mut self, path: &str, from: &Path) -> Result {
        let metadata = fs::metadata(from)
            .map_err(|error| format!("could not read {}: {error}", from.display()))?;
        let runs = metadata.permissions().mode() & 0o111 != 0;
        let mode = if runs { 0o755 } else { 0o644 };
        let from = from.to_owned();
        self.insert(path, Entry::File { from, mode });
        Ok(())
    }

    /// All files below a folder of this machine for whose path within it `keep` holds. Links
    /// are left out: none is needed by a program that is started by its own path.
    ///
    /// # Errors
    /// It can't be read, or a name in it is not UTF-8.
    pub(super) fn tree(&mut self, path: &str, from: &Path, keep: &dyn Fn(&str) -> bool) -> Result {
        let entries = fs::read_dir(from)
            .map_err(|error| format!("could not read {}: {error}", from.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().into_string();
            let name = name.map_err(|name| format!("{} is not UTF-8", name.display()))?;
            let inside = format!("{path}/{name}");
            let kind = entry.file_type()?;
            if !keep(&inside) {
                continue;
            }
            if kind.is_dir() {
                self.tree(&inside, &entry.path(), keep)?;
            } else if kind.is_file() {
                self.file(&inside, &entry.path())?;
            }
        }
        Ok(())
    }

    /// A program, and the libraries that it is linked with where they are on this machine.
    /// Says which libraries those are.
    ///
    /// # Errors
    /// It is not there, or a library of it is not.
    pub(super) fn program(&mut self, path: &str, from: &Path) -> Result<Vec<PathBuf>> {
        self.file(path, from)?;
        let mut libraries = Vec::new();
        let said = command("ldd").arg(from).env("LC_ALL", "C").output()?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned()
            + &String::from_utf8_lossy(&said.stderr);
        if STATIC.iter().any(|words| text.contains(words)) {
            return Ok(libraries);
        }
        // Fails where one is missing, which `ldd` says among its other lines.
        let text = capture(command("ldd").arg(from).env("LC_ALL", "C"))?;
        if let Some(missing) = text.lines().find(|line| line.contains("not found")) {
            return Err(format!("{}: {}", from.display(), missing.trim()).into());
        }
        for word in text.split_whitespace().filter(|word| word.starts_with('/')) {
            self.file(word.trim_start_matches('/'), Path::new(word))?;
            libraries.push(word.into());
        }
        Ok(libraries)
    }

    /// Writes the archive.
    ///
    /// # Errors
    /// A file can't be read, or the archive can't be written.
    pub(super) fn write(&self, archive: &Path, epoch: u64) -> Result {
        let file = io::BufWriter::new(File::create(archive)?);
        let mut tar = Builder::new(file);
        for (path, entry) in &self.entries {
            let mut header = Header::new_gnu();
            header.set_mtime(epoch);
            header.set_uid(0);
            header.set_gid(0);
            header.set_size(0);
            header.set_mode(0o644);
            match entry {
                Entry::Folder { mode, owner } => {
                    header.set_entry_type(EntryType::Directory);
                    header.set_mode(*mode);
                    header.set_uid(*owner);
                    header.set_gid(*owner);
                    tar.append_data(&mut header, format!("{path}/"), io::empty())?;
                }
                Entry::File { from, mode } => {
                    let file = File::open(from)?;
                    let size = file.metadata()?.len();
                    header.set_mode(*mode);
                    header.set_size(size);
                    tar.append_data(&mut header, path, file.take(size))?;
                }
                Entry::Text(text) => {
                    header.set_size(text.len() as u64);
                    tar.append_data(&mut header, path, text.as_bytes())?;
                }
            }
        }
        tar.into_inner()?
            .into_inner()
            .map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Adds an entry, and the folders that it lies in.
    fn insert(&mut self, path: &str, entry: Entry) {
        for (at, _) in path.match_indices('/') {
            let (mode, owner) = (0o755, 0);
            let folder = Entry::Folder { mode, owner };
            self.entries.entry(path[..at].to_owned()).or_insert(folder);
        }
        self.entries.insert(path.to_owned(), entry);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    /// A new folder, gone when this is dropped.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn archive(files: &Path, epoch: u64) -> Vec<u8> {
        let mut root = Rootfs::from_scratch();
        root.folder("data", 0o755, USER);
        root.tree("opt/bot", files, &|path| !path.ends_with(".map"))
            .unwrap();
        let to = folder();
        let archive = to.path().join("rootfs.tar");
        root.write(&archive, epoch).unwrap();
        fs::read(archive).unwrap()
    }

    #[test]
    fn the_same_files_are_the_same_archive() {
        let (one, other) = (folder(), folder());
        for name in ["a", "b", "c.map"] {
            fs::write(one.path().join(name), name).unwrap();
        }
        // In another order, at another time, for another user's eyes.
        for name in ["b", "a"] {
            let path = other.path().join(name);
            fs::write(&path, name).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
            file.set_modified(then).unwrap();
        }
        assert_eq!(archive(one.path(), 7), archive(other.path(), 7));
        assert_ne!(archive(one.path(), 7), archive(other.path(), 8));
        fs::write(other.path().join("a"), "b").unwrap();
        assert_ne!(archive(one.path(), 7), archive(other.path(), 7));
    }

    #[test]
    fn folders_come_before_what_is_in_them_and_have_their_owners() {
        let files = folder();
        fs::write(files.path().join("a"), "").unwrap();
        let bytes = archive(files.path(), 7);
        let mut tar = tar::Archive::new(&bytes[..]);
        let entries: Vec<_> = tar
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                let path = entry.path().unwrap().display().to_string();
                (path, header.mode().unwrap(), header.uid().unwrap())
            })
            .collect();
        let expected = [
            ("data/", 0o755, USER),
            ("etc/", 0o755, 0),
            ("etc/group", 0o644, 0),
            ("etc/nsswitch.conf", 0o644, 0),
            ("etc/passwd", 0o644, 0),
            ("opt/", 0o755, 0),
            ("opt/bot/", 0o755, 0),
            ("opt/bot/a", 0o644, 0),
            ("tmp/", 0o1777, 0),
        ];
        let expected = expected.map(|(path, mode, owner)| (path.to_owned(), mode, owner));
        assert_eq!(entries, expected);
    }
}
