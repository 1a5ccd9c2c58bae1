//! The limits of an upload and of its build.

use std::time::Duration;

/// What an upload may have, and what its build may take. The default is that of a contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildLimits {
    /// Bytes of the upload.
    pub upload: u64,
    /// Bytes of all its files, unpacked.
    pub unpacked: u64,
    /// Files and folders in it.
    pub files: u32,
    /// Longest time of the build.
    pub time: Duration,
    /// Bytes of memory that the build takes at one time, with all that it starts; the files that
    /// it writes are in memory.
    pub memory: u64,
    /// Bytes that the build writes into its folder, and bytes of the bot that it makes.
    pub output: u64,
    /// Files and folders that it makes, and those of the bot.
    pub output_files: u32,
    /// Bytes of its log: what is more is left out in the middle.
    pub log: usize,
    /// Processes and threads at one time.
    pub processes: u32,
}

impl Default for BuildLimits {
    fn default() -> Self {
        const KIB: u64 = 1 << 10;
        const MIB: u64 = 1 << 20;
        Self {
            upload: 100 * KIB,
            unpacked: 4 * MIB,
            files: 1000,
            time: Duration::from_secs(120),
            memory: 2048 * MIB,
            output: 256 * MIB,
            output_files: 16_384,
            log: 64 << 10,
            processes: 256,
        }
    }
}

/// A size for people.
pub(crate) fn bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
