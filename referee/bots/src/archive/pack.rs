//! A bot's folder as an archive. The same folder gives the same bytes, on every machine: entries
//! are sorted, and have no times, no owners and one of two modes.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use nix::libc::{O_CLOEXEC, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK};
use referee_core::printable;
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use super::{
    ArchiveHash, LONGEST_PATH, MOST_BYTES, MOST_ENTRIES, MOST_PACKED_BYTES,
    links::{Links, stays_inside},
};

/// Names of what is never packed, wherever it lies in the folder: what version control keeps,
/// and what Python makes again.
pub const LEFT_OUT: &[&str] = &[".git", ".hg", ".svn", "__pycache__"];

/// Names of folders that are no sources: builds and package managers make them again.
const BUILT: &[&str] = &["node_modules", "target"];

/// A folder with one of these files is no source either: caches have the first
/// (<https://bford.info/cachedir/>), CMake's build folders and Python's environments the others.
const BUILT_MARKS: &[&str] = &["CACHEDIR.TAG", "CMakeCache.txt", "pyvenv.cfg"];

/// Higher levels take several times as long for a few percent.
const LEVEL: i32 = 3;

/// A folder that has been packed.
#[derive(Clone, PartialEq, Eq)]
pub struct Packed {
    /// Name of the archive.
    pub hash: ArchiveHash,
    /// The archive.
    pub bytes: Vec<u8>,
    /// Size of its tar file, in bytes.
    pub size: u64,
    /// Number of files, folders and links in it.
    pub entries: usize,
    /// The paths of what was left out, because of [`LEFT_OUT`].
    pub left_out: Vec<String>,
}

/// Sources that have been packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedSources {
    /// A tar.gz of them.
    pub bytes: Vec<u8>,
    /// The paths of what was left out.
    pub left_out: Vec<String>,
}

/// Reason why a folder can't be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// Something in it can't be packed.
    #[error("could not pack {}: {why}", path.display())]
    Refused {
        /// The file, printable.
        path: PathBuf,
        /// The reason, and what to do.
        why: String,
    },
    /// All of it is too much.
    #[error("could not pack {}: {why}", folder.display())]
    TooLarge {
        /// The folder.
        folder: PathBuf,
        /// The bound that it exceeds.
        why: String,
    },
}

/// One thing in the folder.
struct FolderItem {
    /// Its path from the folder on, with slashes.
    path: String,
    file: PathBuf,
    kind: FolderItemKind,
}

enum FolderItemKind {
    Folder,
    File,
    Link(String),
}

/// Packs a folder, without what [`LEFT_OUT`] names.
///
/// # Errors
///
/// [`PackError`] names what can't be packed.
pub fn pack_folder(folder: &Path) -> Result<Packed, PackError> {
    let FolderContents {
        items, left_out, ..
    } = FolderContents::of(folder, None)?;
    let links: Links = items
        .iter()
        .filter_map(|item| match &item.kind {
            FolderItemKind::Link(target) => Some((item.path.clone(), target.clone())),
            FolderItemKind::Folder | FolderItemKind::File => None,
        })
        .collect();
    for item in &items {
        if matches!(item.kind, FolderItemKind::Link(_))
            && let Err(why) = stays_inside(&links, &item.path)
        {
            let why = format!("{why}; copy what it leads to into the folder");
            return Err(refused(&item.file, why));
        }
    }
    packed(folder, &items, left_out)
}

/// Packs the sources in a folder as a tar.gz of at most so many bytes: without what [`LEFT_OUT`] names,
/// folders that builds make, and this secret, should it lie there. The same sources give the same
/// bytes.
///
/// # Errors
///
/// [`PackError`] names what can't be packed: a link is nothing that can be.
pub fn pack_sources(
    folder: &Path,
    most: u64,
    secret: Option<&Path>,
) -> Result<PackedSources, PackError> {
    let FolderContents {
        items, left_out, ..
    } = FolderContents::of(folder, Some(SourceRules::new(secret)))?;
    if let Some(link) = (items.iter()).find(|item| matches!(item.kind, FolderItemKind::Link(_))) {
        let why = "expected files and folders, found a link; copy what it leads to into the folder";
        return Err(refused(&link.file, why.to_owned()));
    }
    let bytes = AtMost::new(Vec::new(), most, "packed archive");
    let encoder = GzEncoder::new(bytes, Compression::best());
    let tar = AtMost::new(encoder, MOST_BYTES, "archive");
    let written = write_tar(folder, &items, tar)?.into.finish();
    let bytes = written.map_err(|error| too_large(folder, &error))?.into;
    Ok(PackedSources { bytes, left_out })
}

/// Packs one file, as a folder in which it is alone.
///
/// # Errors
///
/// [`PackError`]
pub fn pack_file(file: &Path) -> Result<Packed, PackError> {
    let Some(name) = file.file_name() else {
        return Err(refused(file, "expected a file".to_owned()));
    };
    let path = text(file, name.to_str())?;
    // A link to it is meant as the file.
    let real = file
        .canonicalize()
        .map_err(|error| refused(file, error.to_string()))?;
    let item = FolderItem {
        path,
        file: real,
        kind: FolderItemKind::File,
    };
    packed(file, &[item], Vec::new())
}

/// What is left out of sources, beside [`LEFT_OUT`].
struct SourceRules {
    /// Its path without links, where there is one.
    secret: Option<PathBuf>,
}

impl SourceRules {
    fn new(secret: Option<&Path>) -> Self {
        Self {
            secret: secret.and_then(|file| file.canonicalize().ok()),
        }
    }

    fn leave_out(&self, entry: &fs::DirEntry, name: &str) -> bool {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let is_marked = |mark: &&str| path.join(mark).is_file();
            return BUILT.contains(&name) || BUILT_MARKS.iter().any(is_marked);
        }
        self.secret.is_some() && path.canonicalize().ok() == self.secret
    }
}

/// The contents of a folder.
struct FolderContents<'f> {
    folder: &'f Path,
    /// What more is left out of sources; none for a bot.
    rules: Option<SourceRules>,
    /// In order.
    items: Vec<FolderItem>,
    /// In order.
    left_out: Vec<String>,
}

impl<'f> FolderContents<'f> {
    /// Those of a folder in which there is something.
    fn of(folder: &'f Path, rules: Option<SourceRules>) -> Result<Self, PackError> {
        if !folder.is_dir() {
            let why = "expected a folder that is there".to_owned();
            return Err(refused(folder, why));
        }
        let mut found = Self {
            folder,
            rules,
            items: Vec::new(),
            left_out: Vec::new(),
        };
        found.look(folder, "")?;
        if found.items.is_empty() {
            return Err(refused(folder, "there is nothing in it".to_owned()));
        }
        found.items.sort_by(|one, other| one.path.cmp(&other.path));
        found.left_out.sort();
        Ok(found)
    }

    fn look(&mut self, folder: &Path, above: &str) -> Result<(), PackError> {
        let unread = |error: io::Error| refused(folder, format!("it can't be read: {error}"));
        for entry in fs::read_dir(folder).map_err(unread)? {
            let entry = entry.map_err(unread)?;
            let file = entry.path();
            let name = text(&file, entry.file_name().to_str())?;
            let path = match above {
                "" => name.clone(),
                above => format!("{above}/{name}"),
            };
            let is_no_source = |rules: &SourceRules| rules.leave_out(&entry, &name);
            if LEFT_OUT.contains(&&*name) || self.rules.as_ref().is_some_and(is_no_source) {
                self.left_out.push(path);
                continue;
            }
            if path.len() > LONGEST_PATH {
                let why = format!("its path has more than {LONGEST_PATH} bytes");
                return Err(refused(&file, why));
            }
            if self.items.len() == MOST_ENTRIES {
                let folder = self.folder.to_owned();
                let why = format!(
                    "it has more than {MOST_ENTRIES} files and folders; name the folder that \
                     has the bot's files only"
                );
                return Err(PackError::TooLarge { folder, why });
            }
            let kind = kind_of(&file, &entry)?;
            let is_folder = matches!(kind, FolderItemKind::Folder);
            self.items.push(FolderItem {
                path: path.clone(),
                file: file.clone(),
                kind,
            });
            if is_folder {
                self.look(&file, &path)?;
            }
        }
        Ok(())
    }
}

/// The kind of thing that this is. It is not opened: opening a pipe waits.
fn kind_of(file: &Path, entry: &fs::DirEntry) -> Result<FolderItemKind, PackError> {
    let unread = |error: io::Error| refused(file, format!("it can't be read: {error}"));
    let kind = entry.file_type().map_err(unread)?;
    if kind.is_dir() {
        return Ok(FolderItemKind::Folder);
    }
    if kind.is_file() {
        return Ok(FolderItemKind::File);
    }
    if kind.is_symlink() {
        let target = fs::read_link(file).map_err(unread)?;
        let target = text(file, target.to_str())?;
        if target.len() > LONGEST_PATH {
            let why = format!("it is a link to a path of more than {LONGEST_PATH} bytes");
            return Err(refused(file, why));
        }
        return Ok(FolderItemKind::Link(target));
    }
    let found = if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    let why = format!("expected files, folders and links, found {found}; remove it");
    Err(refused(file, why))
}

/// Writes the archive of these, which are in order.
fn packed(folder: &Path, items: &[FolderItem], left_out: Vec<String>) -> Result<Packed, PackError> {
    let whole = |error: &io::Error| too_large(folder, error);
    let bytes = AtMost::new(Vec::new(), MOST_PACKED_BYTES, "packed archive");
    let encoder = zstd::Encoder::new(bytes, LEVEL).map_err(|error| whole(&error))?;
    let hashing = HashingWriter {
        into: AtMost::new(encoder, MOST_BYTES, "archive"),
        hash: Sha256::new(),
        size: 0,
    };
    let HashingWriter { into, hash, size } = write_tar(folder, items, hashing)?;
    let bytes = into.into.finish().map_err(|error| whole(&error))?;
    Ok(Packed {
        hash: ArchiveHash::new(hash.finalize().into()),
        bytes: bytes.into,
        size,
        entries: items.len(),
        left_out,
    })
}

/// Writes the tar file of these, which are in order.
fn write_tar<W: Write>(folder: &Path, items: &[FolderItem], into: W) -> Result<W, PackError> {
    let mut builder = Builder::new(into);
    for item in items {
        append(&mut builder, item).map_err(|error| {
            // It is all files together that are too large.
            match error.kind() {
                io::ErrorKind::FileTooLarge => too_large(folder, &error),
                _ => refused(&item.file, format!("it can't be read: {error}")),
            }
        })?;
    }
    let written = builder.into_inner();
    written.map_err(|error| too_large(folder, &error))
}

fn append<W: Write>(builder: &mut Builder<W>, item: &FolderItem) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    header.set_mode(0o755);
    match &item.kind {
        FolderItemKind::Folder => {
            header.set_entry_type(EntryType::Directory);
            builder.append_data(&mut header, &item.path, io::empty())
        }
        FolderItemKind::Link(target) => {
            header.set_entry_type(EntryType::Symlink);
            builder.append_link(&mut header, &item.path, target)
        }
        FolderItemKind::File => {
            let (file, data) = open(&item.file)?;
            let is_program = data.permissions().mode() & 0o111 != 0;
            header.set_mode(if is_program { 0o755 } else { 0o644 });
            header.set_entry_type(EntryType::Regular);
            header.set_size(data.len());
            let mut whole = Whole {
                left: data.len(),
                file,
            };
            builder.append_data(&mut header, &item.path, &mut whole)?;
            whole.ends()
        }
    }
}

/// Opens a file, and only that: somebody may have put a pipe or a link in its place.
fn open(file: &Path) -> io::Result<(File, fs::Metadata)> {
    let file = File::options()
        .read(true)
        .custom_flags(O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        .open(file)?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    Ok((file, data))
}

/// A file that must be as long as it was when it was opened.
struct Whole {
    file: File,
    left: u64,
}

impl Whole {
    fn ends(&mut self) -> io::Result<()> {
        match self.file.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(changed()),
        }
    }
}

impl Read for Whole {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let most = most.min(bytes.len());
        if most == 0 {
            return Ok(0);
        }
        let read = self.file.read(&mut bytes[..most])?;
        if read == 0 {
            return Err(changed());
        }
        self.left -= read as u64;
        Ok(read)
    }
}

fn changed() -> io::Error {
    io::Error::other("it changed while it was packed; try again when nothing writes to it")
}

/// Hashes what is written.
struct HashingWriter<W> {
    into: W,
    hash: Sha256,
    size: u64,
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.into.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

/// Takes so many bytes and no more.
struct AtMost<W> {
    into: W,
    most: u64,
    left: u64,
    what: &'static str,
}

impl<W> AtMost<W> {
    const fn new(into: W, most: u64, what: &'static str) -> Self {
        Self {
            into,
            most,
            left: most,
            what,
        }
    }
}

impl<W: Write> Write for AtMost<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            let why = format!(
                "it is too large: the {} would have more than {} MiB",
                self.what,
                self.most >> 20
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        let written = self.into.write(bytes)?;
        self.left -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

impl From<AtMost<Self>> for Vec<u8> {
    fn from(written: AtMost<Self>) -> Self {
        written.into
    }
}

fn text(file: &Path, text: Option<&str>) -> Result<String, PackError> {
    text.map(str::to_owned).ok_or_else(|| {
        let why = "a name in it is not UTF-8, so it is another name elsewhere; rename it";
        refused(file, why.to_owned())
    })
}

fn too_large(folder: &Path, error: &io::Error) -> PackError {
    PackError::TooLarge {
        folder: folder.to_owned(),
        why: error.to_string(),
    }
}

fn refused(path: &Path, why: String) -> PackError {
    PackError::Refused {
        path: printable(&path.to_string_lossy()).into(),
        why,
    }
}
