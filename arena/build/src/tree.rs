//! Files in memory with checked names: what an upload has, and what a build hands out. Nothing of
//! it is written to a disk before all of it is checked.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use referee_bots::archive::{LEFT_OUT, LONGEST_PATH};
use referee_core::is_printable;

use crate::{
    fault::{BuildFault, FaultKind},
    limits::bytes,
};

/// Folders and files that a Mac puts into archives, and what version control and Python keep:
/// they are passed over.
const PASSED_OVER: &[&str] = &["__MACOSX", ".DS_Store"];

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeFile {
    pub(crate) bytes: Vec<u8>,
    /// True if it may be executed.
    pub(crate) is_program: bool,
}

/// Bounds of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeLimits {
    pub(crate) bytes: u64,
    pub(crate) files: u32,
    /// Folders in each other.
    pub(crate) depth: usize,
    /// True if two names may not differ by case alone: the author's machine may hold them for one.
    pub(crate) folds_case: bool,
    /// The words for the tree, and the kind of fault where its bytes are too many.
    pub(crate) what: &'static str,
    pub(crate) too_large: FaultKind,
}

/// Files by path, the folders that lie empty too.
#[derive(Debug)]
pub(crate) struct Tree {
    limits: TreeLimits,
    files: BTreeMap<String, TreeFile>,
    folders: BTreeSet<String>,
    /// The names as they would be without case.
    folded: BTreeMap<String, String>,
    bytes: u64,
}

impl Tree {
    pub(crate) fn new(limits: TreeLimits) -> Self {
        Self {
            limits,
            files: BTreeMap::new(),
            folders: BTreeSet::new(),
            folded: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Adds a folder.
    pub(crate) fn add_folder(&mut self, path: &[u8]) -> Result<(), BuildFault> {
        match self.checked(path)? {
            Some(path) => self.enter(&path),
            None => Ok(()),
        }
    }

    /// Adds a file, as much of it as there is: what its header says of its size does not count.
    pub(crate) fn add_file(
        &mut self,
        path: &[u8],
        is_program: bool,
        content: impl Read,
    ) -> Result<(), BuildFault> {
        let left = self.limits.bytes - self.bytes;
        let mut read = Vec::new();
        let name = String::from_utf8_lossy(path);
        content
            .take(left + 1)
            .read_to_end(&mut read)
            .map_err(|error| {
                let why = format!("{name} can't be unpacked: {error}");
                BuildFault::new(FaultKind::BadArchive, why)
            })?;
        // What is passed over counts too: reading it takes time.
        self.bytes += read.len() as u64;
        if self.bytes > self.limits.bytes {
            return Err(self.too_large());
        }
        let Some(path) = self.checked(path)? else {
            return Ok(());
        };
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.enter(folder)?;
        }
        if self.folders.contains(&path) || self.files.contains_key(&path) {
            return Err(twice(&path));
        }
        self.note(&path)?;
        let file = TreeFile {
            bytes: read,
            is_program,
        };
        self.files.insert(path, file);
        Ok(())
    }

    /// The fault of a tree that has more bytes than it may.
    pub(crate) fn too_large(&self) -> BuildFault {
        let TreeLimits {
            what,
            bytes: most,
            too_large,
            ..
        } = self.limits;
        let why = format!("{what} has more than {}", bytes(most));
        BuildFault::new(too_large, why)
    }

    /// Something that is neither a file nor a folder.
    pub(crate) fn refused(&self, path: &[u8], found: &str) -> BuildFault {
        let name = String::from_utf8_lossy(path);
        let why = format!("{name} is {found}: expected files and folders only");
        BuildFault::new(FaultKind::NotAFile, why)
    }

    pub(crate) fn files(&self) -> &BTreeMap<String, TreeFile> {
        &self.files
    }

    /// All of it without the one folder that everything lies in, if there is such a folder.
    pub(crate) fn without_top(mut self) -> Self {
        let mut tops = self.files.keys().chain(&self.folders);
        let top = tops.next().map(|path| match path.split_once('/') {
            Some((top, _)) => top.to_owned(),
            None => path.clone(),
        });
        let Some(top) = top.filter(|top| self.folders.contains(top)) else {
            return self;
        };
        let inside = format!("{top}/");
        let mut all = self.files.keys().chain(&self.folders);
        if !all.all(|path| *path == top || path.starts_with(&inside)) {
            return self;
        }
        let below = |path: &String| path.strip_prefix(&inside).map(str::to_owned);
        self.files = self
            .files
            .into_iter()
            .filter_map(|(path, file)| Some((below(&path)?, file)))
            .collect();
        self.folders = self.folders.iter().filter_map(below).collect();
        self
    }

    /// The files as a tar file.
    pub(crate) fn tar(&self) -> io::Result<Vec<u8>> {
        let mut tar = tar::Builder::new(Vec::new());
        for (path, file) in &self.files {
            let mut header = tar::Header::new_gnu();
            header.set_size(file.bytes.len() as u64);
            header.set_mode(if file.is_program { 0o755 } else { 0o644 });
            tar.append_data(&mut header, path, &*file.bytes)?;
        }
        tar.into_inner()
    }

    /// Writes it into a folder that is there and empty.
    pub(crate) fn write(&self, into: &Path) -> io::Result<()> {
        // Sorted: a folder comes before what lies in it.
        for folder in &self.folders {
            fs::create_dir(into.join(folder))?;
        }
        for (path, file) in &self.files {
            let mode = if file.is_program { 0o755 } else { 0o644 };
            let mut options = fs::File::options();
            let mut written = options
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(into.join(path))?;
            io::Write::write_all(&mut written, &file.bytes)?;
        }
        Ok(())
    }

    /// The path, without a `./` before it and a `/` behind it; none for what is passed over.
    fn checked(&self, path: &[u8]) -> Result<Option<String>, BuildFault> {
        let shown = String::from_utf8_lossy(path);
        let bad = |why: &str| {
            let why = format!("{shown}: {why}");
            Err(BuildFault::new(FaultKind::BadName, why))
        };
        let Ok(path) = str::from_utf8(path) else {
            return bad("expected a name in UTF-8");
        };
        if path.starts_with('/') {
            return bad("expected a path in the folder, found an absolute one");
        }
        if !path.chars().all(is_printable) || path.contains('\\') {
            return bad("expected a name without control characters and backslashes");
        }
        let parts = path.trim_end_matches('/').split('/');
        let parts: Vec<&str> = parts.filter(|part| *part != ".").collect();
        if parts.contains(&"..") {
            return bad("expected a path in the folder, found \"..\"");
        }
        let path = parts.join("/");
        if path.is_empty() {
            return Ok(None);
        }
        if parts.iter().any(|part| part.is_empty()) {
            return bad("expected a path without empty names");
        }
        if parts.len() > self.limits.depth {
            let why = format!(
                "it has more than {} folders in each other",
                self.limits.depth
            );
            return bad(&why);
        }
        if path.len() > LONGEST_PATH || parts.iter().any(|part| part.len() > 255) {
            return bad("its path is too long");
        }
        let mut passed = PASSED_OVER.iter().chain(LEFT_OUT);
        Ok(match passed.any(|name| parts.contains(name)) {
            true => None,
            false => Some(path),
        })
    }

    /// Adds a folder with those that it lies in.
    fn enter(&mut self, folder: &str) -> Result<(), BuildFault> {
        let ends = folder.match_indices('/').map(|(at, _)| at);
        for end in ends.chain([folder.len()]) {
            let above = &folder[..end];
            if self.files.contains_key(above) {
                return Err(twice(above));
            }
            if !self.folders.contains(above) {
                self.note(above)?;
                self.folders.insert(above.to_owned());
            }
        }
        Ok(())
    }

    /// Counts a file or a folder.
    fn note(&mut self, path: &str) -> Result<(), BuildFault> {
        let TreeLimits {
            files: most, what, ..
        } = self.limits;
        if self.files.len() + self.folders.len() >= most as usize {
            let why = format!("{what} has more than {most} files and folders");
            return Err(BuildFault::new(FaultKind::TooManyFiles, why));
        }
        if !self.limits.folds_case {
            return Ok(());
        }
        match self.folded.insert(path.to_lowercase(), path.to_owned()) {
            Some(other) => {
                let why = format!("{path} and {other} differ by case only: rename one of them");
                Err(BuildFault::new(FaultKind::BadName, why))
            }
            None => Ok(()),
        }
    }
}

fn twice(path: &str) -> BuildFault {
    BuildFault::new(FaultKind::BadName, format!("{path} is there twice"))
}
