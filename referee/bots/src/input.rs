//! Files that people hand to us: records, definitions, lists, cases. They are read up to a
//! size, and only where they are regular files: reading a device or a pipe may never end. What
//! the system shows as files is nobody's input: it has secrets of processes, which an error would
//! quote.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _},
    path::Path,
};

use nix::sys::statfs::{self, FsType, fstatfs};

/// File systems that are the system's own words, wherever they are mounted.
const OF_THE_SYSTEM: [FsType; 8] = [
    statfs::PROC_SUPER_MAGIC,
    statfs::SYSFS_MAGIC,
    statfs::CGROUP_SUPER_MAGIC,
    statfs::CGROUP2_SUPER_MAGIC,
    statfs::DEBUGFS_MAGIC,
    statfs::TRACEFS_MAGIC,
    statfs::SECURITYFS_MAGIC,
    statfs::BPF_FS_MAGIC,
];
/// Folders where they are usually mounted. People's own files may lie in `/dev/shm`.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];
const SHARED_MEMORY: &str = "/dev/shm";

/// A file that can be read to its end.
///
/// # Errors
///
/// It can't be opened, is no regular file, or is one of the system.
pub fn open_input(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    // Opening a pipe would wait for somebody who writes to it.
    let file = options
        .read(true)
        .custom_flags(nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::from_raw_os_error(nix::libc::EISDIR));
    }
    let found = match kind {
        _ if kind.is_fifo() => "a pipe",
        _ if !kind.is_file() => "a device",
        _ if is_of_the_system(path, &file)? => "a file of the system",
        _ => return Ok(file),
    };
    let why = format!("expected a regular file, found {found}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

fn is_of_the_system(path: &Path, file: &File) -> io::Result<bool> {
    if OF_THE_SYSTEM.contains(&fstatfs(file)?.filesystem_type()) {
        return Ok(true);
    }
    let path = path.canonicalize()?;
    let is_system = SYSTEM.iter().any(|folder| path.starts_with(folder));
    Ok(is_system && !path.starts_with(SHARED_MEMORY))
}

/// The bytes of a file, of which there may be so many.
///
/// # Errors
///
/// As [`open_input`]; it has more bytes, or can't be read.
pub fn read_input(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_input(path)?;
    if file.metadata()?.len() > most {
        return Err(too_large(most));
    }
    // It may grow while it is read.
    read_stream(file, most)
}

/// The bytes of a stream until its end, of which there may be so many.
///
/// # Errors
///
/// It has more bytes, or can't be read.
fn read_stream(stream: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match stream.take(most + 1).read_to_end(&mut bytes)? as u64 <= most {
        true => Ok(bytes),
        false => Err(too_large(most)),
    }
}

fn too_large(most: u64) -> io::Error {
    let most = match most >> 20 {
        0 => format!("{} KiB", most >> 10),
        mib => format!("{mib} MiB"),
    };
    let why = format!("expected a file of at most {most}");
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}

/// The text of a file, likewise.
///
/// # Errors
///
/// As [`read_input`]; it is not UTF-8.
pub fn read_input_text(path: &Path, most: u64) -> io::Result<String> {
    text(read_input(path, most)?)
}

/// The text of a stream until its end, such as standard input; of so many bytes at most.
///
/// # Errors
///
/// It has more bytes, can't be read, or is not UTF-8.
pub fn read_stream_text(stream: impl io::Read, most: u64) -> io::Result<String> {
    text(read_stream(stream, most)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    let why = "expected text in UTF-8";
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, why))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn why(path: &Path) -> String {
        read_input(path, 2048).unwrap_err().to_string()
    }

    #[test]
    fn a_file_is_read_up_to_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list");
        std::fs::write(&file, "x".repeat(2048)).unwrap();
        assert_eq!(read_input_text(&file, 2048).unwrap().len(), 2048);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_input(&link, 2048).unwrap().len(), 2048);
        std::fs::write(&file, "x".repeat(2049)).unwrap();
        assert_eq!(why(&file), "expected a file of at most 2 KiB");
        // A hole of a terabyte takes no space.
        File::create(&file).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(why(&file), "expected a file of at most 2 KiB");
        std::fs::write(&file, b"\xff").unwrap();
        let error = read_input_text(&file, 2048).unwrap_err().to_string();
        assert_eq!(error, "expected text in UTF-8");
    }

    #[test]
    fn what_the_system_shows_as_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("openings.txt");
        std::os::unix::fs::symlink("/proc/self/environ", &link).unwrap();
        for path in [
            &*link,
            Path::new("/proc/self/environ"),
            Path::new("/proc/self/root/proc/self/cmdline"),
            Path::new("/sys/kernel/uevent_seqnum"),
        ] {
            if path.exists() {
                let expected = "expected a regular file, found a file of the system";
                assert_eq!(why(path), expected, "{}", path.display());
            }
        }
    }

    #[test]
    fn what_never_ends_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert_eq!(why(&pipe), "expected a regular file, found a pipe");
        let device = why(Path::new("/dev/zero"));
        assert_eq!(device, "expected a regular file, found a device");
        assert!(why(folder.path()).contains("Is a directory"));
        let stream = read_stream(&[0; 11][..], 10).unwrap_err().to_string();
        assert_eq!(stream, "expected a file of at most 0 KiB");
    }
}
