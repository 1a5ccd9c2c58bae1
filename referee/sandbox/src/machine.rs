//! The machine's description of itself, for programs in a sandbox: texts of what it said when
//! the program was started. So nobody is told by them what others do meanwhile, and nobody
//! shares a file of the kernel with another program.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Folders in which runtimes look for how many cores there are, and how memory is paged.
pub(crate) const MACHINE: &[&str] = &[CORES, PAGING];

/// Files of `/proc` for the same, and for how much memory there is.
pub(crate) const PROC_TEXTS: &[&str] = &[
    "cgroups", "cpuinfo", "loadavg", "meminfo", "stat", "swaps", "uptime",
];

const CORES: &str = "/sys/devices/system/cpu";
const PAGING: &str = "/sys/kernel/mm/transparent_hugepage";

/// Names of the files of interest in each of them, of each core, and of each cache of the first
/// one.
const OF_ALL_CORES: &[&str] = &[
    "isolated",
    "kernel_max",
    "offline",
    "online",
    "possible",
    "present",
];
const OF_PAGING: &[&str] = &[
    "defrag",
    "enabled",
    "hpage_pmd_size",
    "shmem_enabled",
    "use_zero_page",
];
const OF_EACH_CORE: &[&str] = &[
    "topology/core_cpus_list",
    "topology/core_id",
    "topology/package_cpus_list",
    "topology/physical_package_id",
    "topology/thread_siblings",
    "topology/thread_siblings_list",
];
const OF_EACH_CACHE: &[&str] = &[
    "coherency_line_size",
    "level",
    "number_of_sets",
    "shared_cpu_list",
    "shared_cpu_map",
    "size",
    "type",
    "ways_of_associativity",
];

/// Writes the texts of one of the folders of [`MACHINE`] into another folder.
///
/// # Errors
/// Where they can't be written. What can't be read is left out.
pub(crate) fn write_texts(from: &Path, to: &Path) -> io::Result<()> {
    if from == Path::new(PAGING) {
        return write_each(OF_PAGING, from, to);
    }
    write_each(OF_ALL_CORES, from, to)?;
    for core in numbered("cpu", from) {
        let inside = to.join(core.file_name().unwrap_or_default());
        write_each(OF_EACH_CORE, &core, &inside)?;
        if core.ends_with("cpu0") {
            for cache in numbered("index", &core.join("cache")) {
                let inside = inside.join("cache");
                let inside = inside.join(cache.file_name().unwrap_or_default());
                write_each(OF_EACH_CACHE, &cache, &inside)?;
            }
        }
    }
    Ok(())
}

fn write_each(names: &[&str], from: &Path, to: &Path) -> io::Result<()> {
    names
        .iter()
        .try_for_each(|name| write_text(&from.join(name), &to.join(name)))
}

/// Copies what a file of the kernel says.
///
/// # Errors
/// Where it can't be written. What can't be read is left out.
pub(crate) fn write_text(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(text) = fs::read(from) else {
        return Ok(());
    };
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, text)
}

/// The paths in a folder whose name is this word with a number.
fn numbered(word: &str, folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_numbered = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix(word));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    entries
        .map(|entry| entry.path())
        .filter(is_numbered)
        .collect()
}
