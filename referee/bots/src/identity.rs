//! The identity of a bot, beyond its name: a hash of what decides how it plays.

use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use referee_sandbox::joined;
use sha2::{Digest as _, Sha256};

use crate::open_input;

/// Folders of the system. What lies there comes with the machine, and is no bot's file.
const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix", "/gnu", "/snap",
];

/// The identity of a bot that is this file: `sha256:` and 64 digits.
///
/// # Errors
///
/// The file can't be read.
pub fn identity_of_file(file: &Path) -> io::Result<String> {
    let mut input = open_input(file)?;
    let mut hash = Sha256::new();
    let mut bytes = vec![0; 1 << 16];
    loop {
        let read = input.read(&mut bytes)?;
        if read == 0 {
            return Ok(format!("sha256:{}", hex::encode(hash.finalize())));
        }
        hash.update(&bytes[..read]);
    }
}

/// The file of a command that is the bot's own: the program where it is named with a slash and
/// is no program of the system, else the first argument that is a file.
pub(crate) fn file_of_command(words: &[String], directory: &Path) -> Option<PathBuf> {
    let (program, arguments) = words.split_first()?;
    let own = |word: &String| {
        let file = joined(directory, word);
        (!word.is_empty() && file.is_file()).then_some(file)
    };
    let is_system = |file: &PathBuf| {
        let real = file.canonicalize();
        let real = real.as_ref().unwrap_or(file);
        SYSTEM.iter().any(|folder| real.starts_with(folder))
    };
    if program.contains('/')
        && let Some(file) = own(program).filter(|file| !is_system(file))
    {
        return Some(file);
    }
    arguments.iter().find_map(own)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_file_is_known_by_its_hash() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bot");
        fs::write(&file, "abc").unwrap();
        // FIPS 180-2, appendix B.1.
        let hash = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(identity_of_file(&file).unwrap(), hash);
        assert!(identity_of_file(&folder.path().join("other")).is_err());
        assert!(identity_of_file(folder.path()).is_err());
    }

    #[test]
    fn the_file_of_a_command_is_its_author_s() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for name in ["my_bot", "my_bot.py", "weights"] {
            fs::write(folder.join(name), name).unwrap();
        }
        symlink("/bin/sh", folder.join("python")).unwrap();
        for (command, file) in [
            ("./my_bot weights", Some("./my_bot")),
            ("python3 my_bot.py", Some("my_bot.py")),
            ("python3 -u my_bot.py weights", Some("my_bot.py")),
            ("/bin/sh my_bot.py", Some("my_bot.py")),
            ("./python my_bot.py", Some("my_bot.py")),
            // Without a slash it is a program of PATH.
            ("my_bot weights", Some("weights")),
            ("./not_there", None),
            ("python3 -m other", None),
        ] {
            let words = shlex::split(command).unwrap();
            let found = file_of_command(&words, folder);
            assert_eq!(found, file.map(|file| folder.join(file)), "{command}");
        }
    }
}
