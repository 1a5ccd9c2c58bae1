//! The place where cgroups can be made on this machine: below the one that this process is in.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{CgroupFolders, ControllerFolder, name::Creator, processes, write};
use crate::{
    mounts::unescape,
    walls::{CgroupVersion, Wall},
};

/// Names of the controllers, each with the wall that needs it.
const CONTROLLERS: [(&str, Wall); 3] = [
    ("memory", Wall::Memory),
    ("pids", Wall::ProcessCount),
    ("cpu", Wall::Cpu),
];

/// The name of the cgroup that this process is moved to, so that its old one can have
/// others with controllers.
const MAIN: &str = "main";

/// The folders in which cgroups are made.
#[derive(Debug)]
pub(crate) struct CgroupBase {
    pub(super) folders: CgroupFolders,
    /// True if what was read can be dropped from memory.
    drops_pages: bool,
    creator: Creator,
}

/// The result of the search for folders in which cgroups can be made.
pub(crate) struct CgroupProbe {
    pub(crate) base: Option<CgroupBase>,
    /// Reasons why walls can't be had.
    pub(crate) reasons: BTreeMap<Wall, String>,
}

impl CgroupBase {
    /// Looks for what this process may use, and removes what an arena that is gone has left.
    ///
    /// # Errors
    /// Where `/proc` can't be read.
    pub(crate) fn find() -> io::Result<CgroupProbe> {
        let creator = Creator::this_process()?;
        let hierarchies = hierarchies(
            &fs::read("/proc/self/mountinfo")?,
            &fs::read("/proc/self/cgroup")?,
        );
        let mut reasons = BTreeMap::new();
        let mut folders = CgroupFolders::default();
        let unified = hierarchies.unified.map(|own| base_of(&own));
        let unified = unified.and_then(|folder| match can_make(&folder, &creator, &[]) {
            Ok(()) => Some(folder),
            Err(error) => {
                for wall in [Wall::Freezer, Wall::Ending] {
                    reasons.insert(wall, error.to_string());
                }
                None
            }
        });
        for (controller, wall) in CONTROLLERS {
            let place = match (hierarchies.version_1.get(controller), &unified) {
                (Some(folder), _) => can_make(folder, &creator, &[probe_file(controller)])
                    .map(|()| place(CgroupVersion::V1, folder)),
                (None, Some(folder)) => {
                    enable(folder, controller, &creator).map(|()| place(CgroupVersion::V2, folder))
                }
                (None, None) => Err(io::Error::other("there is no cgroup to make others in")),
            };
            match place {
                Ok(place) => *folders.of(controller) = Some(place),
                Err(error) => {
                    reasons.insert(wall, error.to_string());
                }
            }
        }
        folders.freezer = match (&unified, hierarchies.version_1.get("freezer")) {
            (Some(folder), _) => Some(place(CgroupVersion::V2, folder)),
            (None, Some(folder)) => can_make(folder, &creator, &["freezer.state"])
                .ok()
                .map(|()| place(CgroupVersion::V1, folder)),
            (None, None) => None,
        };
        folders.unified = unified;
        let drops_pages = folders
            .memory
            .as_ref()
            .is_some_and(|place| match place.version {
                CgroupVersion::V1 => {
                    can_make(&place.path, &creator, &["memory.force_empty"]).is_ok()
                }
                CgroupVersion::V2 => can_make(&place.path, &creator, &["memory.reclaim"]).is_ok(),
            });
        let base = Self {
            folders,
            drops_pages,
            creator,
        };
        base.sweep();
        let base = (!base.folders.all().is_empty()).then_some(base);
        Ok(CgroupProbe { base, reasons })
    }

    pub(super) fn next_name(&self) -> String {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.creator.name(&number.to_string())
    }

    /// The walls that it is enough for.
    pub(crate) fn walls(&self) -> Vec<Wall> {
        let folders = &self.folders;
        let has = [
            (Wall::Memory, folders.memory.is_some()),
            (Wall::ProcessCount, folders.processes.is_some()),
            (Wall::Cpu, folders.cpu.is_some()),
            (Wall::Freezer, folders.freezer.is_some()),
            (Wall::PageCache, self.drops_pages),
            (
                Wall::Ending,
                folders.unified.is_some() || folders.freezer.is_some(),
            ),
        ];
        let held = has.into_iter().filter(|(_, there)| *there);
        held.map(|(wall, _)| wall).collect()
    }

    pub(crate) fn version(&self) -> CgroupVersion {
        let limits = [&self.folders.memory, &self.folders.processes];
        let version = limits.into_iter().flatten().map(|place| place.version);
        version.min().unwrap_or(CgroupVersion::V2)
    }

    /// Kills and removes what an arena that is gone has left.
    fn sweep(&self) {
        for folder in self.folders.all() {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            for name in entries.map(|entry| entry.file_name()) {
                let Some(creator) = name.to_str().and_then(Creator::of) else {
                    continue;
                };
                if creator.is_gone(&self.creator) {
                    let left = self.folders.each(|folder| folder.join(&name));
                    let left = left.only_existing();
                    let _ = left.kill();
                    let _ = left.remove();
                }
            }
        }
    }
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl CgroupFolders {
    fn of(&mut self, controller: &str) -> &mut Option<ControllerFolder> {
        match controller {
            "memory" => &mut self.memory,
            "pids" => &mut self.processes,
            _ => &mut self.cpu,
        }
    }

    fn only_existing(mut self) -> Self {
        for place in [
            &mut self.memory,
            &mut self.processes,
            &mut self.cpu,
            &mut self.freezer,
        ] {
            if place.as_ref().is_some_and(|place| !place.path.exists()) {
                *place = None;
            }
        }
        self.unified = self.unified.filter(|path| path.exists());
        self
    }
}

fn place(version: CgroupVersion, path: &Path) -> ControllerFolder {
    let path = path.to_owned();
    ControllerFolder { version, path }
}

/// A file that a cgroup has only with the controller.
fn probe_file(controller: &str) -> &'static str {
    match controller {
        "memory" => "memory.limit_in_bytes",
        "pids" => "pids.max",
        _ => "cpu.cfs_quota_us",
    }
}

/// Tries whether a cgroup can be made in a folder, and has these files that we may write.
fn can_make(folder: &Path, creator: &Creator, files: &[&str]) -> io::Result<()> {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let tried = folder.join(creator.name(&format!("probe{number}")));
    fs::create_dir(&tried).map_err(|error| {
        let folder = folder.display();
        io::Error::new(
            error.kind(),
            format!("could not make a cgroup in {folder}: {error}"),
        )
    })?;
    let writable = files.iter().chain(&["cgroup.procs"]).try_for_each(|file| {
        let opened = fs::OpenOptions::new().write(true).open(tried.join(file));
        opened.map(drop).map_err(|error| {
            let folder = folder.display();
            io::Error::new(
                error.kind(),
                format!("could not write {file} in {folder}: {error}"),
            )
        })
    });
    let removed = fs::remove_dir(&tried);
    writable.and(removed)
}

/// The cgroup of version 2 to make others in: this process' own, or the one above where it
/// was moved by [`enable`].
fn base_of(own: &Path) -> PathBuf {
    let moved = own
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| Creator::of(name).is_some() && name.ends_with(MAIN));
    match own.parent() {
        Some(above) if moved => above.to_owned(),
        _ => own.to_owned(),
    }
}

/// Has a controller of version 2 in the cgroups below a folder. A cgroup with processes
/// can't give its controllers on: if this process is the only one, it moves below.
fn enable(folder: &Path, controller: &str, creator: &Creator) -> io::Result<()> {
    let has = |file: &str| {
        fs::read_to_string(folder.join(file))
            .is_ok_and(|text| text.split_whitespace().any(|word| word == controller))
    };
    if has("cgroup.subtree_control") {
        return Ok(());
    }
    if !has("cgroup.controllers") {
        let folder = folder.display();
        let text = format!("{folder} was not given the controller \"{controller}\"");
        return Err(io::Error::other(text));
    }
    let word = format!("+{controller}");
    let Err(error) = write(folder, "cgroup.subtree_control", &word) else {
        return Ok(());
    };
    let own = std::process::id();
    let alone = processes(folder)?
        .iter()
        .all(|pid| u32::try_from(pid.as_raw()) == Ok(own));
    if !alone {
        return Err(error);
    }
    let main = folder.join(creator.name(MAIN));
    if !main.exists() {
        fs::create_dir(&main)?;
    }
    write(&main, "cgroup.procs", &own.to_string())?;
    write(folder, "cgroup.subtree_control", &word)
}

/// The cgroups that a process which somebody else has started is in, as far as this process may
/// use them.
pub(super) fn folders_of(process: u32) -> io::Result<CgroupFolders> {
    let hierarchies = hierarchies(
        &fs::read("/proc/self/mountinfo")?,
        &fs::read(format!("/proc/{process}/cgroup"))?,
    );
    let unified = hierarchies.unified.filter(|folder| folder.exists());
    let has = |file: &'static str| move |folder: &&PathBuf| folder.join(file).exists();
    let version_1 = |controller: &str| hierarchies.version_1.get(controller);
    let memory = match (version_1("memory"), &unified) {
        (Some(folder), _) => Some(place(CgroupVersion::V1, folder)),
        (None, Some(folder)) => Some(place(CgroupVersion::V2, folder)),
        (None, None) => None,
    };
    let may_write = |folder: &Path, file: &str| {
        let opened = fs::OpenOptions::new().write(true).open(folder.join(file));
        opened.is_ok()
    };
    let freezers = [
        (CgroupVersion::V1, "freezer.state", version_1("freezer")),
        (CgroupVersion::V2, "cgroup.freeze", unified.as_ref()),
    ];
    let freezer = freezers.into_iter().find_map(|(version, file, folder)| {
        let folder = folder.filter(has(file))?;
        may_write(folder, file).then(|| place(version, folder))
    });
    Ok(CgroupFolders {
        memory,
        freezer,
        ..CgroupFolders::default()
    })
}

/// A process' cgroups, as paths: of version 1 by controller, and that of version 2.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hierarchies {
    version_1: BTreeMap<String, PathBuf>,
    unified: Option<PathBuf>,
}

/// Reads `/proc/self/mountinfo` and the `/proc/PID/cgroup` of a process.
fn hierarchies(mountinfo: &[u8], cgroup: &[u8]) -> Hierarchies {
    let mut found = Hierarchies::default();
    let cgroup = String::from_utf8_lossy(cgroup);
    for mounted in mountinfo
        .split(|byte| *byte == b'\n')
        .filter_map(Mounted::read)
    {
        for line in cgroup.lines() {
            let mut fields = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(own)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            // Where the mount does not show this process' own, there is nothing for it.
            let Ok(inside) = Path::new(own).strip_prefix(&mounted.root) else {
                continue;
            };
            let path = if inside.as_os_str().is_empty() {
                mounted.point.clone()
            } else {
                mounted.point.join(inside)
            };
            if mounted.kind == b"cgroup2" && controllers.is_empty() {
                found.unified.get_or_insert(path);
            } else if mounted.kind == b"cgroup" {
                for controller in controllers.split(',').filter(|name| !name.is_empty()) {
                    let is_mounted = mounted
                        .options
                        .split(|byte| *byte == b',')
                        .any(|option| option == controller.as_bytes());
                    if is_mounted {
                        let controller = controller.to_owned();
                        found.version_1.entry(controller).or_insert(path.clone());
                    }
                }
            }
        }
    }
    found
}

/// A line of `mountinfo`.
struct Mounted<'a> {
    /// The part of the file system that is mounted.
    root: PathBuf,
    point: PathBuf,
    kind: &'a [u8],
    options: &'a [u8],
}

impl<'a> Mounted<'a> {
    fn read(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let root = unescape(fields.nth(3)?);
        let point = unescape(fields.next()?);
        // Some optional fields end with a dash.
        fields.find(|field| *field == b"-")?;
        let kind = fields.next()?;
        fields.next()?;
        let options = fields.next()?;
        // A container sees those above it as "/..".
        let above = root.as_os_str().as_bytes().starts_with(b"/..");
        (!above).then_some(Self {
            root,
            point,
            kind,
            options,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_version_2_has_one_hierarchy() {
        let mountinfo = b"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
        let cgroup = b"0::/user.slice/run-7.scope\n";
        let found = hierarchies(mountinfo, cgroup);
        let own = PathBuf::from("/sys/fs/cgroup/user.slice/run-7.scope");
        assert_eq!(found.unified, Some(own));
        assert!(found.version_1.is_empty());
    }

    #[test]
    fn a_machine_with_both_has_a_hierarchy_for_each_controller() {
        let mountinfo = b"\
            31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
            32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
            33 30 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n\
            34 30 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let cgroup = b"4:memory:/arena\n3:cpu,cpuacct:/\n1:name=systemd:/init\n0::/\n";
        let found = hierarchies(mountinfo, cgroup);
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(found.unified, path("/sys/fs/cgroup/unified"));
        let of = |name: &str| found.version_1.get(name).cloned();
        assert_eq!(of("memory"), path("/sys/fs/cgroup/memory/arena"));
        assert_eq!(of("cpu"), path("/sys/fs/cgroup/cpu,cpuacct"));
        assert_eq!(of("pids"), None);
    }

    #[test]
    fn a_container_that_is_shown_its_own_part_has_that() {
        let mountinfo = b"32 30 0:28 /docker/7 /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";
        let found = hierarchies(mountinfo, b"4:pids:/docker/7/inner\n");
        let inner = Path::new("/sys/fs/cgroup/pids/inner");
        assert_eq!(
            found.version_1.get("pids").map(PathBuf::as_path),
            Some(inner)
        );
        let found = hierarchies(mountinfo, b"4:pids:/docker/8\n");
        assert!(found.version_1.is_empty());
    }

    #[test]
    fn a_process_that_was_moved_makes_cgroups_beside_its_own() {
        let creator = Creator::this_process().expect("this is Linux");
        let scope = Path::new("/sys/fs/cgroup/run-7.scope");
        assert_eq!(base_of(&scope.join(creator.name(MAIN))), scope);
        assert_eq!(base_of(scope), scope);
    }
}
