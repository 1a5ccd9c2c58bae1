//! Files that are written for people: exports, pictures, scores, certificates, records. A name means
//! what it means behind `>` in a shell: a device or a pipe is written to, a symbolic link's target
//! is written. A regular file is there whole or not at all, whatever happens on the way.

use std::{
    fs::{self, File, Metadata},
    io::{self, Seek as _, Write},
    os::{
        fd::AsRawFd as _,
        unix::fs::{
            FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown,
        },
    },
    path::{Path, PathBuf},
};

use nix::{
    fcntl::{AT_FDCWD, AtFlags, FcntlArg, OFlag, fcntl},
    libc::{ELOOP, ENXIO, O_NOCTTY, O_NONBLOCK, O_TMPFILE},
    sys::statfs::{PROC_SUPER_MAGIC, statfs},
    unistd::linkat,
};
use tempfile::TempPath;

/// As many links lead from one to the next as the system follows (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Choices of who has a file written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// A regular file that is there is written over, and keeps its mode; else it is refused.
    pub overwrites: bool,
    /// Nobody but its owner may read the file, whatever the umask is and the mode was.
    pub is_private: bool,
    /// A pipe is waited for until somebody reads it; else it is refused.
    pub waits: bool,
}

/// A file that is being written. Without [`Output::finish`] a regular file stays what it was.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// None where the bytes go to their place at once: to a device or a pipe.
    place: Option<Place>,
}

/// Place of a new file, which it takes at the end.
#[derive(Debug)]
struct Place {
    target: PathBuf,
    overwrites: bool,
    /// Its name until then, where the file system has no files without names.
    name: Option<TempPath>,
}

impl Output {
    /// Opens what this path leads to. Nothing is changed by that.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` where a regular file is there and is not to be written over. It is a folder, a
    /// socket or a disk; its folder is not there; it can't be written.
    pub fn open(path: &Path, options: OutputOptions) -> io::Result<Self> {
        // The system follows links first: it refuses some that others have made.
        let found = match fs::metadata(path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let (target, is_open_file) = followed(path)?;
        let kind = found.as_ref().map(Metadata::file_type);
        let refused = match kind {
            None => None,
            Some(kind) if kind.is_dir() => Some("a folder"),
            Some(kind) if kind.is_socket() => Some("a socket"),
            Some(kind) if kind.is_block_device() => Some("a disk"),
            Some(kind) if !kind.is_file() || is_open_file => {
                return Self::stream(&target, kind.is_fifo(), is_open_file, options.waits);
            }
            Some(_) if !options.overwrites => return Err(is_there()),
            Some(_) => None,
        };
        if let Some(refused) = refused {
            let why = format!("expected the name of a file, found {refused}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Self::new_file(target, found.as_ref(), options)
    }

    /// A device, a pipe, or an open file of a process.
    fn stream(target: &Path, is_pipe: bool, is_open: bool, waits: bool) -> io::Result<Self> {
        let mut stream = File::options();
        // What is in an open file, such as /dev/stdout, is not ours.
        stream.append(true).custom_flags(O_NOCTTY);
        if !waits || is_open {
            // Who does not read from an open pipe any more never will.
            stream.custom_flags(O_NOCTTY | O_NONBLOCK);
        }
        let file = stream
            .open(target)
            .map_err(|error| match error.raw_os_error() {
                Some(ENXIO) if is_pipe => {
                    io::Error::new(error.kind(), "nobody reads from this pipe")
                }
                _ => error,
            })?;
        if waits && is_open {
            fcntl(&file, FcntlArg::F_SETFL(OFlag::O_APPEND))?;
        }
        Ok(Self { file, place: None })
    }

    /// A new file in place of a regular file, or of none.
    fn new_file(
        target: PathBuf,
        found: Option<&Metadata>,
        options: OutputOptions,
    ) -> io::Result<Self> {
        if found.is_some() {
            // A file that may not be written is not replaced either.
            let mut writable = File::options();
            writable.write(true).custom_flags(O_NONBLOCK | O_NOCTTY);
            writable.open(&target)?;
        }
        let folder = folder_of(&target);
        let mut new = File::options();
        new.read(true)
            .write(true)
            .mode(if options.is_private { 0o600 } else { 0o666 });
        // Of a file without a name nothing is left, also where this process is killed.
        let unnamed = new.clone().custom_flags(O_TMPFILE).open(folder);
        let (file, name) = match unnamed {
            Ok(file) => (file, None),
            // Not every file system has them.
            Err(_) => {
                let named = tempfile::Builder::new()
                    .make_in(folder, |path| new.clone().create_new(true).open(path))
                    .map_err(|error| without_folder(error, folder))?;
                let (file, name) = named.into_parts();
                (file, Some(name))
            }
        };
        if let Some(found) = found {
            let own = file.metadata()?;
            if (own.uid(), own.gid()) != (found.uid(), found.gid()) {
                // Whoever may not give files away becomes the owner.
                let _ = fchown(&file, Some(found.uid()), Some(found.gid()));
            }
            if !options.is_private {
                file.set_permissions(fs::Permissions::from_mode(found.mode() & 0o777))?;
            }
        }
        let place = Place {
            target,
            overwrites: options.overwrites,
            name,
        };
        Ok(Self {
            file,
            place: Some(place),
        })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` where a file has come there meanwhile and is not to be written over. The system
    /// does not let it be there.
    pub fn finish(mut self) -> io::Result<()> {
        let Some(place) = self.place else {
            return Ok(());
        };
        let folder = folder_of(&place.target);
        let name = match place.name {
            Some(name) => name,
            // Not every file system gives a name to a file that has none.
            None => named(&self.file, folder).or_else(|_| copied(&mut self.file, folder))?,
        };
        let placed = match place.overwrites {
            true => name.persist(&place.target),
            false => name.persist_noclobber(&place.target),
        };
        placed.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => is_there(),
            _ => error.error,
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a whole file.
///
/// # Errors
///
/// As [`Output::open`] and [`Output::finish`]; it can't be written.
pub fn write_output(path: &Path, bytes: &[u8], options: OutputOptions) -> io::Result<()> {
    let mut output = Output::open(path, options)?;
    output.write_all(bytes)?;
    output.finish()
}

/// Writes a whole file of a program, over what was there; it never waits.
///
/// # Errors
///
/// As [`write_output`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let options = OutputOptions {
        overwrites: true,
        ..OutputOptions::default()
    };
    write_output(path, bytes, options)
}

/// The path behind all symbolic links, where there need be nothing yet; true if it is an open file
/// of a process, as behind `/dev/stdout`, whose place has perhaps no name.
fn followed(path: &Path) -> io::Result<(PathBuf, bool)> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => {}
            Ok(_) => return Ok((path, false)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((path, false)),
            Err(error) => return Err(error),
        }
        let folder = folder_of(&path);
        if statfs(folder)?.filesystem_type() == PROC_SUPER_MAGIC {
            return Ok((path, true));
        }
        path = folder.join(fs::read_link(&path)?);
    }
    Err(io::Error::from_raw_os_error(ELOOP))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Gives a file without a name one in this folder (open(2), O_TMPFILE).
fn named(file: &File, folder: &Path) -> io::Result<TempPath> {
    let open = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let linked = tempfile::Builder::new().make_in(folder, |path| {
        let link = linkat(AT_FDCWD, &open, AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW);
        link.map_err(io::Error::from)
    });
    Ok(linked?.into_temp_path())
}

/// A copy of a file in this folder.
fn copied(file: &mut File, folder: &Path) -> io::Result<TempPath> {
    let mut new = File::options();
    new.write(true).create_new(true).mode(0o600);
    let named = tempfile::Builder::new().make_in(folder, |path| new.open(path))?;
    let (mut copy, name) = named.into_parts();
    file.rewind()?;
    io::copy(file, &mut copy)?;
    copy.set_permissions(file.metadata()?.permissions())?;
    Ok(name)
}

fn is_there() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "it is there already")
}

fn without_folder(error: io::Error, folder: &Path) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound if !folder.is_dir() => {
            let why = format!("there is no folder {}", folder.display());
            io::Error::new(io::ErrorKind::NotFound, why)
        }
        _ => error,
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "a test reads what it has written"
)]
mod tests {
    use std::{
        os::unix::{fs::symlink, net::UnixListener},
        process::Command,
        thread,
    };

    use super::*;

    const NEW: OutputOptions = OutputOptions {
        overwrites: false,
        is_private: false,
        waits: false,
    };
    const OVER: OutputOptions = OutputOptions {
        overwrites: true,
        ..NEW
    };

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().mode()
    }

    fn names(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn refused(path: &Path, options: OutputOptions) -> String {
        write_output(path, b"new", options).unwrap_err().to_string()
    }

    #[test]
    fn a_new_file_has_the_mode_that_the_umask_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let [ours, usual, private] = ["ours", "usual", "private"].map(|at| folder.path().join(at));
        write_output(&ours, b"new", NEW).unwrap();
        fs::write(&usual, "new").unwrap();
        assert_eq!(mode(&ours), mode(&usual));
        assert_eq!(fs::read(&ours).unwrap(), b"new");
        let options = OutputOptions {
            is_private: true,
            ..OVER
        };
        write_output(&private, b"new", options).unwrap();
        assert_eq!(mode(&private) & 0o777, 0o600);
        // The mode of an open file is not that of a secret.
        write_output(&ours, b"secret", options).unwrap();
        assert_eq!(mode(&ours) & 0o777, 0o600);
        assert_eq!(names(folder.path()), ["ours", "private", "usual"]);
    }

    #[test]
    fn a_file_that_is_there_is_written_over_where_that_is_wanted_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        assert_eq!(refused(&path, NEW), "it is there already");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_output(&path, b"new", OVER).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(mode(&path) & 0o7777, 0o751);
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn what_is_not_finished_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let [there, new] = ["there", "new"].map(|name| folder.path().join(name));
        fs::write(&there, "old").unwrap();
        for path in [&there, &new] {
            let mut output = Output::open(path, OVER).unwrap();
            output.write_all(b"half of it").unwrap();
            // Most file systems have files without names: killed now, it leaves nothing either.
            let has_name = output.place.as_ref().unwrap().name.is_some();
            assert_eq!(names(folder.path()) == ["there"], !has_name);
        }
        assert_eq!(fs::read(&there).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["there"]);
        // As where a file without a name can't get one.
        let mut output = Output::open(&new, OVER).unwrap();
        output.write_all(b"whole").unwrap();
        let name = copied(&mut output.file, folder.path()).unwrap();
        assert_eq!(fs::read(&name).unwrap(), b"whole");
        drop((name, output));
        let output = Output::open(&new, NEW).unwrap();
        fs::write(&new, "somebody else's").unwrap();
        let error = output.finish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&new).unwrap(), b"somebody else's");
        assert_eq!(names(folder.path()), ["new", "there"]);
    }

    #[test]
    fn the_target_of_a_link_is_written_beside_the_target() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/file"), "old").unwrap();
        symlink("deep/link", at("link")).unwrap();
        symlink("file", at("deep/link")).unwrap();
        symlink("deep/new", at("dangling")).unwrap();
        assert_eq!(refused(&at("link"), NEW), "it is there already");
        write_output(&at("link"), b"new", OVER).unwrap();
        assert_eq!(fs::read(at("deep/file")).unwrap(), b"new");
        write_output(&at("dangling"), b"new", NEW).unwrap();
        assert_eq!(fs::read(at("deep/new")).unwrap(), b"new");
        assert!(
            ["link", "deep/link", "dangling"]
                .iter()
                .all(|link| at(link).is_symlink())
        );
        assert_eq!(names(&at("deep")), ["file", "link", "new"]);
        symlink("circle", at("circle")).unwrap();
        assert!(refused(&at("circle"), OVER).contains("symbolic links"));
    }

    #[test]
    fn devices_and_pipes_are_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (link, device) in [("null", "/dev/null"), ("full", "/dev/full")] {
            symlink(device, at(link)).unwrap();
        }
        write_output(&at("null"), b"new", NEW).unwrap();
        assert!(refused(&at("full"), OVER).contains("No space left"));
        assert!(
            fs::metadata("/dev/null")
                .unwrap()
                .file_type()
                .is_char_device()
        );
        let made = Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        assert_eq!(refused(&at("pipe"), OVER), "nobody reads from this pipe");
        let pipe = at("pipe");
        let reader = thread::spawn(move || fs::read(pipe).unwrap());
        let options = OutputOptions { waits: true, ..NEW };
        write_output(&at("pipe"), b"new", options).unwrap();
        assert_eq!(reader.join().unwrap(), b"new");
        assert!(fs::metadata(at("pipe")).unwrap().file_type().is_fifo());
        assert_eq!(names(folder.path()), ["full", "null", "pipe"]);
    }

    #[test]
    fn an_open_file_goes_on_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "before, ").unwrap();
        let open = File::options().append(true).open(&path).unwrap();
        let name = format!("/proc/self/fd/{}", open.as_raw_fd());
        write_output(Path::new(&name), b"new", NEW).unwrap();
        let link = folder.path().join("link");
        symlink(&name, &link).unwrap();
        write_output(&link, b", newer", OVER).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before, new, newer");
        // Its file may be gone.
        fs::remove_file(&path).unwrap();
        write_output(Path::new(&name), b"new", NEW).unwrap();
        assert_eq!(names(folder.path()), ["link"]);
    }

    #[test]
    fn what_is_no_file_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let expected = "expected the name of a file, found a folder";
        assert_eq!(refused(folder.path(), OVER), expected);
        let _open = UnixListener::bind(at("socket")).unwrap();
        let expected = "expected the name of a file, found a socket";
        assert_eq!(refused(&at("socket"), OVER), expected);
        let expected = format!("there is no folder {}", at("none").display());
        assert_eq!(refused(&at("none/file"), NEW), expected);
        assert_eq!(names(folder.path()), ["socket"]);
    }
}
