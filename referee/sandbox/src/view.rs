//! The files that a sandboxed program sees. This is computed from names alone; nothing is mounted
//! here.

use std::{
    collections::{BTreeSet, VecDeque},
    env,
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{MetadataExt as _, PermissionsExt as _},
    },
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    limits::ResourceLimits,
    machine::MACHINE,
    packages::{self, PackagePlace, Start},
    program::{Program, joined},
    script::{head, named_programs},
    secret,
};

/// The private folder of a program in namespaces of its own, its home too.
pub(crate) const PRIVATE: &str = "/tmp";

/// The folder of the socket of a program in namespaces of its own. Not below a folder that it may
/// write: landlock allows there what it allows above.
pub(crate) const SOCKETS: &str = "/run/bot";

/// Folders of the system, read-only.
const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu",
];

/// Folders that are there and empty.
const EMPTY: &[&str] = &[
    "/home", "/root", "/run", "/mnt", "/srv", "/media", "/var", "/dev", "/proc", "/sys",
];

pub(crate) const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Hidden folders of a home in which whole language runtimes are installed.
const RUNTIMES: &[&str] = &[
    ".pyenv", ".rbenv", ".nvm", ".asdf", ".volta", ".sdkman", ".jenv", ".nodenv", ".goenv",
];

/// One thing in the view, in the order in which they are mounted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ViewEntry {
    /// An empty folder.
    Folder(PathBuf),
    Link {
        path: PathBuf,
        target: PathBuf,
    },
    /// The machine's own file or folder at the same path.
    ReadOnly(PathBuf),
    /// The same, and a copy of it in memory is put in its place if it is not too large.
    Own(PathBuf),
    /// A folder in which the machine says what it has. Texts of what it says at the start are put
    /// in its place.
    Machine(PathBuf),
    /// The folder for its socket, which is elsewhere outside.
    Socket {
        path: PathBuf,
        outside: PathBuf,
    },
    Device(PathBuf),
    /// A new file system in memory.
    Private {
        path: PathBuf,
        size: u64,
        files: u64,
    },
    /// Something that is covered.
    Mask {
        path: PathBuf,
        folder: bool,
    },
    Proc,
}

impl ViewEntry {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Folder(path)
            | Self::Link { path, .. }
            | Self::ReadOnly(path)
            | Self::Own(path)
            | Self::Machine(path)
            | Self::Device(path)
            | Self::Socket { path, .. }
            | Self::Private { path, .. }
            | Self::Mask { path, .. } => path,
            Self::Proc => Path::new("/proc"),
        }
    }
}

/// The access that landlock gives the program below a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub(crate) path: PathBuf,
    pub(crate) access: PathAccess,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum PathAccess {
    /// List folders, no more.
    List,
    /// Read and execute.
    Read,
    /// Read, and write into files that are there.
    Change,
    /// Everything.
    Write,
    /// Make and remove sockets.
    Socket,
}

/// The view from inside: which of the machine's files are visible, and what follows from it.
#[derive(Debug)]
pub(crate) struct SandboxView {
    /// The program's file.
    pub(crate) program: PathBuf,
    /// The folder that it runs in.
    pub(crate) directory: PathBuf,
    visible: Vec<PathBuf>,
    /// Folders and files of packages, which are shown as those of the system are.
    packages: Vec<PathBuf>,
    /// Paths below its home that lead to some of them.
    home_links: Vec<(PathBuf, PathBuf)>,
    links: Vec<(PathBuf, PathBuf)>,
    passed: BTreeSet<PathBuf>,
    hidden: Vec<PathBuf>,
    socket_folder: Option<PathBuf>,
}

impl SandboxView {
    /// Looks for what the program needs.
    ///
    /// # Errors
    /// Where the program, its folder or a readable path is not there.
    pub(crate) fn of(program: &Program, homes: &Homes, path: &OsStr) -> io::Result<Self> {
        let start = start_folder(program)?;
        let homes = &homes.and(program.home.as_deref());
        let mut search = VisibleSearch::of(program, homes, path, &start)?;
        for readable in &program.readable {
            search
                .add_exactly(readable)
                .map_err(|error| about("could not find what it may read", readable, &error))?;
        }
        // One that names nothing in its folder finds it by itself, as `npm start` does.
        let names_none = !search.visible.iter().any(|path| path.starts_with(&start));
        if program.directory.is_some()
            && names_none
            && says_what_to_run(&start)
            && !homes.is_shared(&start)
            && !is_system(&start)
        {
            search.visible.insert(start.clone());
        }
        search.add_packages(program);
        let VisibleSearch {
            visible,
            links,
            passed,
            runtimes,
            named,
            packages,
            mut home_links,
            program: file,
            ..
        } = search;
        let mut hidden: Vec<PathBuf> = program
            .hidden
            .iter()
            .filter_map(|path| fs::canonicalize(path).ok())
            .collect();
        hidden.iter().for_each(|path| secret::mark(path));
        let may_have_secrets = visible.iter().filter(|path| !runtimes.contains(*path));
        let secrets = may_have_secrets.flat_map(|path| secret::find(path));
        // What is named is meant to be read.
        let is_named = |path: &PathBuf| named.iter().any(|named| named.starts_with(path));
        hidden.extend(secrets.filter(|path| !is_named(path)));
        hidden.extend(secrets_of_the_system());
        hidden.sort();
        hidden.dedup();
        let visible = without_nested(visible, &hidden);
        home_links.retain(|(_, target)| !is_below_any(target, &hidden));
        let packages = packages
            .into_iter()
            .filter(|path| !is_below_any(path, &visible) && !is_below_any(path, &hidden));
        let packages = without_nested(packages.collect(), &[]);
        let mut links: Vec<(PathBuf, PathBuf)> = links
            .into_iter()
            .filter(|(link, _)| {
                !is_system(link) && !is_below_any(link, &visible) && !is_below_any(link, &packages)
            })
            .collect();
        links.sort();
        links.dedup();
        let socket_folder = program
            .socket_folder
            .as_ref()
            .map(fs::canonicalize)
            .transpose()?;
        let mut shown = visible.iter().chain(&packages);
        let seen = is_system(&start)
            || passed.contains(&start)
            || shown.any(|path| start.starts_with(path) || path.starts_with(&start));
        let directory = if seen { start } else { PRIVATE.into() };
        Ok(Self {
            program: file,
            directory,
            visible,
            packages,
            home_links,
            links,
            passed,
            hidden,
            socket_folder,
        })
    }

    /// The mounts, parents before what lies in them.
    pub(crate) fn entries(&self, limits: &ResourceLimits) -> Vec<ViewEntry> {
        let mut entries: Vec<ViewEntry> = EMPTY
            .iter()
            .map(|path| ViewEntry::Folder(path.into()))
            .collect();
        for path in SYSTEM.iter().map(Path::new) {
            if let Ok(target) = fs::read_link(path) {
                let path = path.to_owned();
                entries.push(ViewEntry::Link { path, target });
            } else if path.is_dir() {
                entries.push(ViewEntry::ReadOnly(path.to_owned()));
            }
        }
        let folders = MACHINE.iter().map(PathBuf::from);
        entries.extend(folders.filter(|path| path.exists()).map(ViewEntry::Machine));
        for path in DEVICES {
            entries.push(ViewEntry::Device(path.into()));
        }
        for (path, target) in [
            ("/dev/fd", "/proc/self/fd"),
            ("/dev/stdin", "/proc/self/fd/0"),
            ("/dev/stdout", "/proc/self/fd/1"),
            ("/dev/stderr", "/proc/self/fd/2"),
        ] {
            let (path, target) = (path.into(), target.into());
            entries.push(ViewEntry::Link { path, target });
        }
        entries.push(ViewEntry::Proc);
        for path in [PRIVATE, "/var/tmp", "/dev/shm"] {
            entries.push(ViewEntry::Private {
                path: path.into(),
                size: limits.disk,
                files: limits.files,
            });
        }
        let passed = self.passed.iter().filter(|path| !self.shows(path));
        entries.extend(passed.cloned().map(ViewEntry::Folder));
        for (path, target) in self.links.iter().cloned() {
            entries.push(ViewEntry::Link { path, target });
        }
        entries.extend(self.visible.iter().cloned().map(ViewEntry::Own));
        entries.extend(self.packages.iter().cloned().map(ViewEntry::ReadOnly));
        let home_links = self.home_links(Path::new(PRIVATE));
        entries.extend(home_links.map(|(path, target)| ViewEntry::Link { path, target }));
        entries.extend(self.socket_folder.iter().map(|outside| ViewEntry::Socket {
            path: SOCKETS.into(),
            outside: outside.clone(),
        }));
        let masked = self.hidden.iter().filter(|path| self.shows(path));
        for path in masked.filter(|path| !self.is_masked_with_another(path)) {
            entries.push(ViewEntry::Mask {
                path: path.clone(),
                folder: path.is_dir(),
            });
        }
        entries.sort_by(|one, other| one.path().cmp(other.path()));
        entries
    }

    /// The links from its home to folders of packages, where this is its home.
    pub(crate) fn home_links(&self, home: &Path) -> impl Iterator<Item = (PathBuf, PathBuf)> {
        let links = self
            .home_links
            .iter()
            .map(move |(below_home, target)| (home.join(below_home), target.clone()));
        // Something may be shown at the very path.
        let (visible, links_shown) = (&self.visible, &self.links);
        links.filter(move |(link, _)| {
            let meets = |path: &PathBuf| path.starts_with(link) || link.starts_with(path);
            let mut shown = visible.iter().chain(&self.packages);
            !shown.any(meets) && !links_shown.iter().any(|(path, _)| meets(path))
        })
    }

    /// True if a hidden path lies in another one, and nothing that is shown is between them: then
    /// it is gone with the other one.
    fn is_masked_with_another(&self, path: &Path) -> bool {
        self.hidden.iter().any(|above| {
            let is_between = |shown: &PathBuf| shown.starts_with(above) && path.starts_with(shown);
            path != above && path.starts_with(above) && !self.visible.iter().any(is_between)
        })
    }

    /// True if a path is in what is shown of the machine.
    fn shows(&self, path: &Path) -> bool {
        is_system(path) || is_below_any(path, &self.visible) || is_below_any(path, &self.packages)
    }

    /// The access that landlock gives where the mounts are the first wall.
    pub(crate) fn grants_in_namespaces(entries: &[ViewEntry]) -> Vec<Grant> {
        let mut grants = vec![Grant {
            path: "/".into(),
            access: PathAccess::List,
        }];
        for entry in entries {
            let access = match entry {
                ViewEntry::ReadOnly(_) | ViewEntry::Own(_) | ViewEntry::Machine(_) => {
                    PathAccess::Read
                }
                ViewEntry::Private { .. } => PathAccess::Write,
                ViewEntry::Socket { .. } => PathAccess::Socket,
                // A process names its threads there.
                ViewEntry::Device(_) | ViewEntry::Proc => PathAccess::Change,
                ViewEntry::Folder(_) | ViewEntry::Link { .. } | ViewEntry::Mask { .. } => continue,
            };
            let path = entry.path().to_owned();
            grants.push(Grant { path, access });
        }
        grants
    }

    /// The access that landlock gives where it is the only wall around files. It can't cover
    /// anything below a path that it allows, so around what is hidden each neighbour is allowed.
    pub(crate) fn grants_alone(&self, private: &Path) -> Vec<Grant> {
        let mut grants = Vec::new();
        let shown = SYSTEM
            .iter()
            .chain(MACHINE)
            .map(PathBuf::from)
            .filter_map(|path| fs::canonicalize(path).ok())
            .chain(self.visible.iter().chain(&self.packages).cloned());
        for path in shown {
            self.grant_around_hidden(path, &mut grants);
        }
        let more = [
            ("/proc", PathAccess::Read),
            // Semaphores of Python's multiprocessing are there.
            ("/dev/shm", PathAccess::Write),
        ];
        let devices = DEVICES.iter().map(|path| (*path, PathAccess::Change));
        for (path, access) in more.into_iter().chain(devices) {
            let path = PathBuf::from(path);
            grants.push(Grant { path, access });
        }
        grants.push(Grant {
            path: private.to_owned(),
            access: PathAccess::Write,
        });
        grants.extend(self.socket_folder.iter().cloned().map(|path| Grant {
            path,
            access: PathAccess::Socket,
        }));
        grants.sort();
        grants.dedup();
        grants
    }

    fn grant_around_hidden(&self, path: PathBuf, grants: &mut Vec<Grant>) {
        if self.hidden.contains(&path) {
            return;
        }
        if !self.hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            let access = PathAccess::Read;
            grants.push(Grant { path, access });
            return;
        }
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        for entry in entries {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if !kind.is_symlink() {
                self.grant_around_hidden(entry.path(), grants);
            }
        }
    }
}

/// The folders of users, in which things lie that are no program's.
#[derive(Clone, Debug)]
pub(crate) struct Homes(Vec<PathBuf>);

impl Homes {
    pub(crate) fn of_this_machine() -> Self {
        let mut homes = vec![PathBuf::from("/root")];
        if let Some(home) = env::var_os("HOME").filter(|home| !home.is_empty()) {
            homes.push(PathBuf::from(&home));
            homes.extend(fs::canonicalize(home));
        }
        let others = fs::read_dir("/home").into_iter().flatten().flatten();
        homes.extend(others.map(|entry| entry.path()));
        homes.sort();
        homes.dedup();
        Self(homes)
    }

    /// These and another one.
    pub(crate) fn and(&self, home: Option<&Path>) -> Self {
        let more = home
            .into_iter()
            .flat_map(|home| [Some(home.to_owned()), fs::canonicalize(home).ok()]);
        Self(self.0.iter().cloned().chain(more.flatten()).collect())
    }

    /// True if a folder holds more than one program's files: a home, a folder of settings in it,
    /// the system's temporary folders, or a folder that any of these is in. An environment of
    /// Python is one program's, though it often is a hidden folder of a home.
    pub(crate) fn is_shared(&self, folder: &Path) -> bool {
        const SHARED: &[&str] = &[
            "/boot", "/dev", "/dev/shm", "/home", "/media", "/mnt", "/proc", "/run", "/srv",
            "/sys", "/tmp", "/var", "/var/lib", "/var/run", "/var/tmp",
        ];
        if folder.parent().is_none() || SHARED.iter().any(|path| folder == Path::new(path)) {
            return true;
        }
        self.0.iter().any(|home| {
            if home.starts_with(folder) {
                return true;
            }
            let Ok(inside) = folder.strip_prefix(home) else {
                return false;
            };
            let mut names = inside.components();
            let first = names.next().map(Component::as_os_str);
            let second = names.next();
            match first {
                Some(name) if RUNTIMES.iter().any(|runtime| name == OsStr::new(runtime)) => false,
                Some(name) if name == ".local" => second.is_none() || names.next().is_none(),
                Some(name) if name.as_bytes().starts_with(b".") => {
                    second.is_none() && !folder.join(ENVIRONMENT).is_file()
                }
                _ => false,
            }
        })
    }
}

/// Collects what must be visible.
pub(crate) struct VisibleSearch<'a> {
    homes: &'a Homes,
    path: &'a OsStr,
    start: &'a Path,
    visible: BTreeSet<PathBuf>,
    links: Vec<(PathBuf, PathBuf)>,
    /// Folders that a path leaves again by `..`: they must be there.
    passed: BTreeSet<PathBuf>,
    /// Installed programs, which are nobody's folder.
    runtimes: BTreeSet<PathBuf>,
    /// The files that are named.
    named: BTreeSet<PathBuf>,
    /// The program's own file.
    program: PathBuf,
    /// The programs that start it, with the links that lead to them.
    programs: BTreeSet<PathBuf>,
    packages: BTreeSet<PathBuf>,
    home_links: Vec<(PathBuf, PathBuf)>,
}

impl<'a> VisibleSearch<'a> {
    /// What a program and its arguments and variables name.
    ///
    /// # Errors
    /// Where the program is not there.
    pub(crate) fn of(
        program: &Program,
        homes: &'a Homes,
        path: &'a OsStr,
        start: &'a Path,
    ) -> io::Result<Self> {
        let mut search = VisibleSearch {
            homes,
            path,
            start,
            visible: BTreeSet::new(),
            links: Vec::new(),
            passed: BTreeSet::new(),
            runtimes: BTreeSet::new(),
            named: BTreeSet::new(),
            program: PathBuf::new(),
            programs: BTreeSet::new(),
            packages: BTreeSet::new(),
            home_links: Vec::new(),
        };
        let file = search
            .find(&program.path)
            .ok_or_else(|| not_found(&program.path))?;
        search.add_program(&file, 0)?;
        for argument in &program.arguments {
            search.add_argument(argument);
            search.add_started(argument);
        }
        for (_, value) in &program.environment {
            search.add_argument(value);
        }
        search.program = file;
        Ok(search)
    }

    /// The file of a program, as `execvp` finds it.
    fn find(&self, program: &Path) -> Option<PathBuf> {
        if program.as_os_str().as_bytes().contains(&b'/') {
            let file = joined(self.start, program);
            return file.exists().then_some(file);
        }
        env::split_paths(self.path)
            .map(|folder| joined(self.start, folder).join(program))
            .find(|file| is_executable(file))
    }

    /// A program, and what the first line of a script names, or an environment as its base.
    fn add_program(&mut self, file: &Path, depth: usize) -> io::Result<()> {
        let (real, links) = self.add_file(file)?;
        self.programs.insert(real.clone());
        self.programs.extend(links);
        if depth > 3 {
            return Ok(());
        }
        for base in bases(file) {
            self.add_program(&base, depth + 1)?;
        }
        for interpreter in interpreters(&real) {
            if let Some(file) = self.find(&interpreter) {
                self.add_program(&file, depth + 1)?;
            }
        }
        Ok(())
    }

    /// An argument may be a program that this one starts, as in `nice python3 bot.py`.
    fn add_started(&mut self, argument: &OsStr) {
        let is_path = argument.as_bytes().contains(&b'/');
        if !is_path && !packages::is_of_a_runtime(argument) {
            return;
        }
        if let Some(file) = self
            .find(Path::new(argument))
            .filter(|file| is_executable(file))
        {
            // That fails for what can't be started either.
            let _ = self.add_program(&file, 1);
        }
    }

    /// The answer to a question about how it is started.
    pub(crate) fn of_start<T>(&self, program: &Program, answer: impl FnOnce(&Start) -> T) -> T {
        let programs: Vec<PathBuf> = self.programs.iter().cloned().collect();
        answer(&Start {
            programs: &programs,
            named: self.named().collect(),
            folder: self.start,
            environment: &program.environment,
            home: program.home.as_deref(),
        })
    }

    /// The files that are named, without links.
    pub(crate) fn named(&self) -> impl Iterator<Item = &Path> {
        self.named.iter().map(PathBuf::as_path)
    }

    /// What the runtimes that start it read of packages.
    fn add_packages(&mut self, program: &Program) {
        let found = self.of_start(program, packages::places);
        let home = program.home.as_ref();
        let home = home.and_then(|home| fs::canonicalize(home).ok());
        for PackagePlace { path, below_home } in found {
            // One that can't be read is none.
            let Ok(Resolved { real, .. }) = self.resolve(&path) else {
                continue;
            };
            // A link there may lead anywhere.
            let is_the_very_place = below_home
                .as_ref()
                .zip(home.as_ref())
                .is_some_and(|(below_home, home)| home.join(below_home) == real);
            if is_special(&real) || (self.homes.is_shared(&real) && !is_the_very_place) {
                continue;
            }
            if !is_system(&real) {
                let is_above = below_home.is_none()
                    && real
                        .parent()
                        .is_some_and(|above| self.start.starts_with(above));
                if is_above {
                    // It is looked for from there on.
                    self.passed.insert(self.start.to_owned());
                }
                self.packages.insert(real.clone());
            }
            let links = below_home.map(|below_home| (below_home, real));
            self.home_links.extend(links);
        }
    }

    /// An argument may be a path, a list of them, or end in one.
    fn add_argument(&mut self, argument: &OsStr) {
        let after_equals = argument
            .as_bytes()
            .splitn(2, |byte| *byte == b'=')
            .nth(1)
            .map(OsStr::from_bytes);
        // As in a SPEC, which may be an argument: parameters follow the path.
        let mut around = argument.as_bytes().splitn(2, |byte| *byte == b'?');
        let before_parameters = around.next().filter(|_| around.next().is_some());
        let before_parameters = before_parameters.map(OsStr::from_bytes);
        let texts = [Some(argument), after_equals, before_parameters];
        for text in texts.into_iter().flatten() {
            if text.is_empty() {
                continue;
            }
            // That fails for what is no path, or names a folder that nobody can read.
            for part in env::split_paths(text).filter(|part| !part.as_os_str().is_empty()) {
                // All archives of a folder, in a class path.
                let folder = part.parent().filter(|_| part.ends_with("*"));
                let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
                let path = self.start.join(folder.unwrap_or(&part));
                if path.is_dir() {
                    let _ = self.add_folder(&path);
                } else if path.exists() {
                    let _ = self.add_file(&path);
                }
            }
            // A module of Python: `-m bot` or `-m package.bot`.
            let module = text.to_string_lossy().replace('.', "/");
            let module = self.start.join(module + ".py");
            if module.is_file() {
                let _ = self.add_file(&module);
            }
        }
    }

    /// Gives the file without links, and the links that stand for it.
    fn add_file(&mut self, file: &Path) -> io::Result<(PathBuf, Vec<PathBuf>)> {
        let Resolved { ends, real, .. } = self.resolve(file)?;
        for end in ends.iter().chain([&real]) {
            let shown = self.what_to_show(end);
            self.show(shown);
        }
        self.named.insert(real.clone());
        Ok((real, ends))
    }

    fn add_folder(&mut self, folder: &Path) -> io::Result<()> {
        let real = self.resolve(folder)?.real;
        if !self.homes.is_shared(&real) {
            self.show(real);
        }
        Ok(())
    }

    fn add_exactly(&mut self, path: &Path) -> io::Result<()> {
        let real = self.resolve(&self.start.join(path))?.real;
        self.show(real);
        Ok(())
    }

    /// Follows a path, and keeps what was on the way.
    fn resolve(&mut self, path: &Path) -> io::Result<Resolved> {
        let mut resolved = resolve(path)?;
        self.links.append(&mut resolved.links);
        self.passed.extend(resolved.passed.drain(..));
        Ok(resolved)
    }

    fn show(&mut self, path: PathBuf) {
        if !is_system(&path) && !is_special(&path) {
            self.visible.insert(path);
        }
    }

    /// The folder of an installed program if that is what a file belongs to, else the
    /// folder that it lies in, or the file alone where that is not one program's.
    fn what_to_show(&mut self, file: &Path) -> PathBuf {
        const PROGRAMS: &[&str] = &["bin", "sbin", "libexec", "shims"];
        const INSTALLED: &[&str] = &["lib", "lib64", "libexec", ENVIRONMENT];
        let Some(folder) = file.parent() else {
            return file.to_owned();
        };
        if let (Some(name), Some(prefix)) = (folder.file_name(), folder.parent())
            && PROGRAMS.iter().any(|known| name == OsStr::new(known))
        {
            let installed = INSTALLED.iter().any(|mark| prefix.join(mark).exists());
            if installed && !self.homes.is_shared(prefix) {
                self.runtimes.insert(prefix.to_owned());
                return prefix.to_owned();
            }
            if self.homes.is_shared(prefix) {
                return file.to_owned();
            }
        }
        if self.homes.is_shared(folder) {
            return file.to_owned();
        }
        folder.to_owned()
    }
}

/// A path without symbolic links, and those that were on the way.
struct Resolved {
    /// The place and the target of each link.
    links: Vec<(PathBuf, PathBuf)>,
    /// The links that stand for the file itself, not for a folder on the way to it.
    ends: Vec<PathBuf>,
    /// Folders that it leaves again by `..`.
    passed: Vec<PathBuf>,
    real: PathBuf,
}

fn resolve(path: &Path) -> io::Result<Resolved> {
    const MOST: usize = 40;
    let mut resolved = Resolved {
        links: Vec::new(),
        ends: Vec::new(),
        passed: Vec::new(),
        real: PathBuf::from("/"),
    };
    let mut rest: VecDeque<OsString> = names(path);
    while let Some(name) = rest.pop_front() {
        if name == "/" {
            resolved.real = PathBuf::from("/");
            continue;
        }
        if name == ".." {
            resolved.passed.push(resolved.real.clone());
            resolved.real.pop();
            continue;
        }
        let place = resolved.real.join(&name);
        if !fs::symlink_metadata(&place)?.is_symlink() {
            resolved.real = place;
            continue;
        }
        if resolved.links.len() == MOST {
            return Err(io::Error::other("too many symbolic links"));
        }
        let target = fs::read_link(&place)?;
        if rest.is_empty() {
            resolved.ends.push(place.clone());
        }
        for name in names(&target).into_iter().rev() {
            rest.push_front(name);
        }
        resolved.links.push((place, target));
    }
    Ok(resolved)
}

fn names(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

/// The folder that a program is started in, without links.
///
/// # Errors
/// Where it is not there.
pub(crate) fn start_folder(program: &Program) -> io::Result<PathBuf> {
    match &program.directory {
        Some(directory) => fs::canonicalize(directory)
            .map_err(|error| about("could not find its folder", directory, &error)),
        None => env::current_dir(),
    }
}

/// True if a folder has a file in which programs look for what they are to run.
fn says_what_to_run(folder: &Path) -> bool {
    const NAMES: &[&str] = &[
        "build.gradle",
        "build.gradle.kts",
        "Cargo.toml",
        "deno.json",
        "Gemfile",
        "go.mod",
        "Makefile",
        "makefile",
        "mix.exs",
        "package.json",
        "pom.xml",
        "pyproject.toml",
    ];
    NAMES.iter().any(|name| folder.join(name).is_file())
}

/// So much is read of a script, or of what an environment says of itself.
const HEAD: u64 = 4096;

/// The file that an environment of Python has (PEP 405).
const ENVIRONMENT: &str = "pyvenv.cfg";

/// The programs of the Python that an environment is made of, where this is the environment's.
/// Most often it is a link to one of them, but it may be a copy.
fn bases(program: &Path) -> Vec<PathBuf> {
    let Some((folder, name)) = program.parent().zip(program.file_name()) else {
        return Vec::new();
    };
    let above = folder.parent();
    let Some(text) = above.and_then(|above| head(&above.join(ENVIRONMENT), HEAD)) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let mut homes = lines.filter(|(key, _)| key.trim().eq_ignore_ascii_case("home"));
    let Some((_, home)) = homes.next() else {
        return Vec::new();
    };
    let home = Path::new(home.trim());
    // What it is called there is not said.
    let files = [home.join(name), home.join("python3")];
    files
        .into_iter()
        .find(|file| file.exists())
        .into_iter()
        .collect()
}

/// The programs that the first line of a script names.
fn interpreters(script: &Path) -> Vec<PathBuf> {
    head(script, HEAD).map_or_else(Vec::new, |head| named_programs(&head))
}

/// Files and folders in the system's settings that not everybody may read. A program that runs as
/// the user that owns it could.
fn secrets_of_the_system() -> Vec<PathBuf> {
    let is_secret = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|data| {
            let needed = if data.is_dir() { 0o5 } else { 0o4 };
            !data.is_symlink() && data.mode() & needed != needed
        })
    };
    ["/etc", "/etc/ssl"]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| is_secret(path))
        .collect()
}

/// Leaves out what lies in another one, unless something hidden is between them.
fn without_nested(visible: BTreeSet<PathBuf>, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    // Sorted, so a folder comes before what lies in it.
    for path in visible {
        let covered = kept.iter().any(|above| {
            let is_between =
                |hidden: &PathBuf| hidden.starts_with(above) && path.starts_with(hidden);
            path.starts_with(above) && !hidden.iter().any(is_between)
        });
        if !covered {
            kept.push(path);
        }
    }
    kept
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// True if a path is the kernel's, or a device.
fn is_special(path: &Path) -> bool {
    let special = ["/proc", "/sys", "/dev"];
    special.iter().any(|folder| path.starts_with(folder))
}

fn is_below_any(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// True for a file that may be executed.
#[must_use]
pub fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

fn about(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}, {}: {error}", path.display()))
}

fn not_found(program: &Path) -> io::Error {
    // As the system says it where it starts a program.
    if program.as_os_str().as_bytes().contains(&b'/') {
        return io::Error::from_raw_os_error(nix::libc::ENOENT);
    }
    let program = program.display();
    let text = format!("there is no program {program} in PATH");
    io::Error::new(io::ErrorKind::NotFound, text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder that stands for a home, with files in it.
    struct Home {
        folder: tempfile::TempDir,
    }

    impl Home {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            Self { folder }
        }

        fn path(&self) -> PathBuf {
            fs::canonicalize(self.folder.path()).expect("it is there")
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(&path, text).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
            path
        }

        fn link(&self, name: &str, target: &str) -> PathBuf {
            let path = self.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            symlink(target, &path).expect("a link");
            path
        }

        fn view(&self, program: &Program) -> SandboxView {
            let homes = Homes(vec![self.path()]);
            SandboxView::of(program, &homes, OsStr::new("/usr/bin:/bin")).expect("all is there")
        }

        /// The visible files of a program, relative to this home.
        fn visible(&self, program: &Path, arguments: &[&str]) -> Vec<String> {
            let view = self.view(&Program {
                path: program.to_owned(),
                arguments: arguments.iter().map(OsString::from).collect(),
                ..Program::default()
            });
            let inside = |path: &PathBuf| {
                let path = path.strip_prefix(self.path()).expect("it is in the home");
                path.display().to_string()
            };
            view.visible.iter().map(inside).collect()
        }
    }

    #[test]
    fn a_program_shows_the_folder_that_it_lies_in() {
        let home = Home::new();
        let bot = home.file("project/bot", "");
        assert_eq!(home.visible(&bot, &[]), ["project"]);
    }

    #[test]
    fn a_program_in_a_home_or_among_settings_shows_itself_alone() {
        let home = Home::new();
        for name in [
            "bot",
            ".local/bin/bot",
            ".cargo/bin/bot",
            ".ssh/bot",
            "bin/bot",
        ] {
            let bot = home.file(name, "");
            home.file(".local/lib/other", "");
            home.file(".cargo/lib/other", "");
            home.file("lib/other", "");
            assert_eq!(home.visible(&bot, &[]), [name]);
        }
    }

    #[test]
    fn an_installed_runtime_is_shown_whole_also_through_links() {
        let home = Home::new();
        home.file(".pyenv/versions/3.11/bin/python3.11", "");
        home.file(".pyenv/versions/3.11/lib/python3.11/os.py", "");
        home.link(".pyenv/versions/3.11/bin/python3", "python3.11");
        home.file("venv/pyvenv.cfg", "");
        let base = "../../.pyenv/versions/3.11/bin/python3";
        let python = home.link("venv/bin/python", base);
        let script = home.file("project/bot.py", "");
        let script = script.to_str().expect("it is text");
        let visible = home.visible(&python, &[script]);
        assert_eq!(visible, [".pyenv/versions/3.11", "project", "venv"]);
    }

    #[test]
    fn a_script_shows_what_its_first_line_names() {
        let home = Home::new();
        let node = home.file(".nvm/versions/node/v20/bin/node", "");
        home.file(".nvm/versions/node/v20/lib/npm", "");
        let bot = home.file("project/bot.js", &format!("#!{}\n", node.display()));
        let visible = home.visible(&bot, &[]);
        assert_eq!(visible, [".nvm/versions/node/v20", "project"]);
    }

    #[test]
    fn arguments_show_the_files_that_they_name() {
        let home = Home::new();
        let classes = home.file("classes/Bot.class", "");
        let jar = home.file("jars/kit.jar", "");
        let weights = home.file("weights/net.bin", "");
        let path = format!(
            "{}:{}",
            classes.parent().expect("it has one").display(),
            jar.display()
        );
        let option = format!("--weights={}", weights.display());
        let java = Path::new("/bin/sh");
        let visible = home.visible(java, &["-cp", &path, &option, "4", "", "--x"]);
        assert_eq!(visible, ["classes", "jars", "weights"]);
    }

    #[test]
    fn a_link_to_a_folder_is_kept() {
        let home = Home::new();
        home.file("data/v2/bot", "");
        home.link("current", "data/v2");
        let view = home.view(&Program {
            path: home.path().join("current/bot"),
            ..Program::default()
        });
        let link = ViewEntry::Link {
            path: home.path().join("current"),
            target: "data/v2".into(),
        };
        assert!(view.entries(&ResourceLimits::default()).contains(&link));
        assert_eq!(view.visible, [home.path().join("data/v2")]);
    }

    #[test]
    fn what_is_hidden_is_covered_and_what_lies_in_it_and_is_shown_is_not() {
        let home = Home::new();
        let bot = home.file("project/records/bots/bot", "");
        let store = home.file("project/arena.db", "");
        let records = home.path().join("project/records");
        let view = home.view(&Program {
            path: bot.clone(),
            readable: vec![home.path().join("project")],
            hidden: vec![store.clone(), records.clone()],
            ..Program::default()
        });
        let entries = view.entries(&ResourceLimits::default());
        let place = |entry: &ViewEntry| entries.iter().position(|other| other == entry);
        let shown = place(&ViewEntry::Own(home.path().join("project")));
        let mask = place(&ViewEntry::Mask {
            path: records,
            folder: true,
        });
        let again = place(&ViewEntry::Own(bot.parent().expect("it has one").into()));
        assert!(
            shown.is_some() && shown < mask && mask < again,
            "{entries:#?}"
        );
        let mask = ViewEntry::Mask {
            path: store.clone(),
            folder: false,
        };
        assert!(entries.contains(&mask));

        // Landlock alone can't cover: it allows the neighbours.
        let granted: Vec<PathBuf> = view
            .grants_alone(Path::new("/nowhere"))
            .into_iter()
            .map(|grant| grant.path)
            .collect();
        assert!(!granted.iter().any(|path| store.starts_with(path)));
        assert!(granted.iter().any(|path| bot.starts_with(path)));
    }

    #[test]
    fn what_is_hidden_with_its_folder_is_not_covered_again() {
        let home = Home::new();
        let bot = home.file("project/bot", "");
        home.file("project/runs/one/logs/a.log", "");
        let at = |path: &str| home.path().join("project").join(path);
        let hidden = vec![at("runs/one/logs"), at("runs")];
        let masks = |readable: Vec<PathBuf>| {
            let view = home.view(&Program {
                path: bot.clone(),
                readable,
                hidden: hidden.clone(),
                ..Program::default()
            });
            let entries = view.entries(&ResourceLimits::default());
            let masks = entries.into_iter().filter_map(|entry| match entry {
                ViewEntry::Mask { path, .. } => Some(path),
                _ => None,
            });
            masks
                .filter(|path| path.starts_with(home.path()))
                .collect::<Vec<_>>()
        };
        assert_eq!(masks(vec![]), [at("runs")]);
        // What is shown between the two would show it again.
        let both = [at("runs"), at("runs/one/logs")];
        assert_eq!(masks(vec![at("runs/one")]), both);
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error_that_names_it() {
        let homes = Homes(Vec::new());
        let program = Program {
            path: "no-such-bot".into(),
            ..Program::default()
        };
        let error =
            SandboxView::of(&program, &homes, OsStr::new("/usr/bin")).expect_err("it isn't");
        assert_eq!(error.to_string(), "there is no program no-such-bot in PATH");
    }
}
