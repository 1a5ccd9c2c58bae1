//! Why the system does not find a program whose file is there.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use crate::script::{first_line, head};

/// So much of a compiled file is looked at.
const HEAD: u64 = 64 << 10;

/// Most interpreters that are scripts themselves.
const DEPTH: usize = 4;

/// Words for the reason why the system says of a file that is there that it is not (`ENOENT`,
/// execve(2)): what it is interpreted or loaded by is not there. None where that is not so, or not
/// known. `directory` is the folder that it is started in.
#[must_use]
pub fn absent_interpreter(file: &Path, directory: &Path) -> Option<String> {
    let mut file = file.to_owned();
    for _ in 0..DEPTH {
        let head = head(&directory.join(&file), HEAD)?;
        let Some(interpreter) = interpreter(&head) else {
            let loader = loader(&head).filter(|loader| !loader.exists())?;
            return Some(format!(
                "it needs the loader {}, which is not there: compile it on this system, or link \
                 it statically",
                loader.display()
            ));
        };
        if directory.join(&interpreter).exists() {
            file = interpreter;
            continue;
        }
        let name = interpreter.display();
        return Some(if interpreter.as_os_str().as_bytes().ends_with(b"\r") {
            let name = name.to_string();
            format!(
                "the first line of {} ends in a carriage return, so that its interpreter would be \
                 {}\\r, which is not there: {}",
                file.display(),
                name.trim_end(),
                without_returns(&file)
            )
        } else {
            format!(
                "the first line of {} names the interpreter {name}, which is not there: install \
                 it, or name one that is there, as in #!/usr/bin/env python3",
                file.display(),
            )
        });
    }
    None
}

/// True if the first line of a script ends in a carriage return, which then is part of the name of
/// its interpreter, or of the last word after that.
#[must_use]
pub fn has_carriage_return(script: &Path) -> bool {
    let line = head(script, HEAD).and_then(|head| first_line(&head).map(<[u8]>::to_owned));
    line.is_some_and(|line| line.ends_with(b"\r"))
}

/// The command that removes carriage returns from a file, as a shell reads it.
#[must_use]
pub fn without_returns(file: &Path) -> String {
    let file = file.display().to_string();
    // No path has what can't be quoted: a zero.
    let word = shlex::try_quote(&file).unwrap_or_default();
    format!(r"sed -i 's/\r$//' {word}")
}

/// The interpreter that a first line names, as the kernel reads it.
fn interpreter(head: &[u8]) -> Option<PathBuf> {
    let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let mut words = first_line(head)?.split(is_blank);
    let name = words.find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(name)))
}

/// The loader that a compiled file names (`PT_INTERP`; elf(5)).
fn loader(head: &[u8]) -> Option<PathBuf> {
    const INTERPRETER: u64 = 3;
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    let (is_64, is_big) = (*head.get(4)? == 2, *head.get(5)? == 2);
    let number = |at: u64, bytes: usize| {
        let at = usize::try_from(at).ok()?;
        let bytes = head.get(at..at.checked_add(bytes)?)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(match is_big {
            true => bytes.iter().fold(0, add),
            false => bytes.iter().rev().fold(0, add),
        })
    };
    let word = if is_64 { 8 } else { 4 };
    let table = number(if is_64 { 0x20 } else { 0x1c }, word)?;
    let size = number(if is_64 { 0x36 } else { 0x2a }, 2)?;
    let count = number(if is_64 { 0x38 } else { 0x2c }, 2)?;
    let (offset_at, length_at) = if is_64 { (0x08, 0x20) } else { (0x04, 0x10) };
    for entry in 0..count {
        let entry = table.checked_add(entry * size)?;
        if number(entry, 4)? == INTERPRETER {
            let offset = usize::try_from(number(entry.checked_add(offset_at)?, word)?).ok()?;
            let length = usize::try_from(number(entry.checked_add(length_at)?, word)?).ok()?;
            let name = head.get(offset..offset.checked_add(length)?)?;
            let name = name.split(|byte| *byte == 0).next()?;
            return Some(PathBuf::from(OsStr::from_bytes(name)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn why(text: &[u8]) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("my bot"), text).expect("a file");
        fs::write(folder.path().join("nested"), "#!/no/such/sh\n").expect("a file");
        absent_interpreter(Path::new("my bot"), folder.path())
    }

    #[test]
    fn an_interpreter_that_is_not_there_is_named() {
        for (text, expected) in [
            (
                "#!/usr/bin/pythn3\n",
                Some("the first line of my bot names the interpreter /usr/bin/pythn3,"),
            ),
            (
                "#! \t/no/such -u\n",
                Some("names the interpreter /no/such, which"),
            ),
            ("#!python3\n", Some("names the interpreter python3, which")),
            (
                "#!./nested\n",
                Some("the first line of ./nested names the interpreter /no/such/sh,"),
            ),
            (
                "#!/bin/sh\r\nexit\r\n",
                Some(r"would be /bin/sh\r, which is not there: sed -i 's/\r$//' 'my bot'"),
            ),
            ("#!/bin/sh\n", None),
            ("#!/usr/bin/env no-such-program\r\n", None),
            ("#!\n", None),
            ("print()", None),
            ("", None),
        ] {
            let found = why(text.as_bytes());
            match expected {
                Some(expected) => assert!(
                    found.as_ref().is_some_and(|found| found.contains(expected)),
                    "{found:?}"
                ),
                None => assert_eq!(found, None, "{text}"),
            }
        }
        assert_eq!(
            absent_interpreter(Path::new("/no/such"), Path::new("/")),
            None
        );
    }

    #[test]
    fn a_loader_that_is_not_there_is_named() {
        let this = fs::read("/proc/self/exe").expect("it is there");
        let loader = loader(&this).expect("a test is linked dynamically");
        assert!(loader.is_absolute() && loader.exists());
        assert_eq!(why(&this), None);
        let name = loader.to_str().expect("it is text");
        let other = name.replace("ld-", "no-");
        assert_eq!(other.len(), name.len());
        let at = this
            .windows(name.len())
            .position(|part| part == name.as_bytes());
        let mut foreign = this;
        let at = at.expect("it is in there");
        foreign[at..at + other.len()].copy_from_slice(other.as_bytes());
        let found = why(&foreign).expect("it is said");
        assert!(
            found.contains(&format!("it needs the loader {other}, which is not there")),
            "{found}"
        );
        for cut in [0, 5, 20, 64, 100] {
            assert_eq!(why(&foreign[..cut]), None);
        }
    }

    #[test]
    fn carriage_returns_are_seen_in_the_first_line_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("bot");
        for (text, has) in [
            ("#!/usr/bin/env python3\r\n", true),
            ("#!/usr/bin/env python3\nprint()\r\n", false),
            ("print()\r\n", false),
        ] {
            fs::write(&file, text).expect("a file");
            assert_eq!(has_carriage_return(&file), has, "{text}");
        }
        assert!(!has_carriage_return(Path::new("/no/such")));
    }
}
