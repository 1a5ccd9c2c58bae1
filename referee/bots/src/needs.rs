//! Needs of a bot, which a machine must have so that it can play there: the programs that
//! it is started with, and the kind of machine that a compiled file is for.

use std::{
    env,
    io::Read as _,
    path::{Path, PathBuf},
};

use referee_sandbox::{is_executable, named_programs};

use crate::open_input;

/// The longest label.
const LONGEST_LABEL: usize = 64;
/// So much of a file says what it is.
const HEAD: u64 = 256;

/// True if a text is a label: what a bot needs and a machine has, as in `python3` and
/// `linux-x86_64`.
#[must_use]
pub fn is_label(text: &str) -> bool {
    let is_of_a_label = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    (1..=LONGEST_LABEL).contains(&text.len()) && text.chars().all(is_of_a_label)
}

/// The label of compiled files that run on this machine, as in `linux-x86_64`.
#[must_use]
pub fn machine_label() -> String {
    format!("{}-{}", env::consts::OS, env::consts::ARCH)
}

/// True if a program of this name is in a folder of PATH.
#[must_use]
pub fn has_program(name: &str) -> bool {
    program_in_path(name).is_some()
}

/// The file of a program of this name in the folders of PATH; none for a path.
#[must_use]
pub fn program_in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut files = env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| !name.contains('/') && is_executable(file))
}

/// The need of a file, as a label: its kind of machine where it is compiled, the
/// interpreter where it is a script.
#[must_use]
pub fn needs_of_file(file: &Path) -> Option<String> {
    let head = head(file)?;
    compiled_for(&head)
        .or_else(|| interpreter(&head))
        .filter(|label| is_label(label))
}

/// The kind of machine that a file is compiled for, as a label; none where it is not compiled.
pub(crate) fn kind_of_machine(file: &Path) -> Option<String> {
    compiled_for(&head(file)?)
}

fn head(file: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let opened = open_input(file).ok()?;
    opened.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

/// The kind of machine that an ELF file is for (System V ABI, chapter 4).
fn compiled_for(head: &[u8]) -> Option<String> {
    if head.len() < 20 || !head.starts_with(b"\x7fELF") {
        return None;
    }
    let (is_64, is_big) = (head[4] == 2, head[5] == 2);
    let machine = match is_big {
        true => u16::from_be_bytes([head[18], head[19]]),
        false => u16::from_le_bytes([head[18], head[19]]),
    };
    // As Rust calls them, so that they are what `machine_label` says.
    let known = match (machine, is_64, is_big) {
        (3, ..) => "x86",
        (20, ..) => "powerpc",
        (21, _, true) => "powerpc64",
        (21, _, false) => "powerpc64le",
        (22, true, _) => "s390x",
        (40, ..) => "arm",
        (62, ..) => "x86_64",
        (183, ..) => "aarch64",
        (243, true, _) => "riscv64",
        (243, false, _) => "riscv32",
        (258, true, _) => "loongarch64",
        _ => return Some(format!("linux-elf-{machine}")),
    };
    Some(format!("linux-{known}"))
}

/// The name of the program that runs a script, as its first line says.
fn interpreter(head: &[u8]) -> Option<String> {
    let programs = named_programs(head);
    let name = programs.last()?.file_name()?.to_str()?;
    let is_known = programs.len() > 1 || name != "env";
    is_known.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs_of(text: &[u8]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bot");
        std::fs::write(&file, text).unwrap();
        needs_of_file(&file)
    }

    #[test]
    fn a_compiled_file_needs_its_kind_of_machine() {
        let this = needs_of_file(&env::current_exe().unwrap());
        assert_eq!(this, Some(machine_label()));
        let elf = |machine: u8| {
            let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
            elf.resize(64, 0);
            elf[18] = machine;
            elf
        };
        assert_eq!(needs_of(&elf(183)).as_deref(), Some("linux-aarch64"));
        assert_eq!(needs_of(&elf(199)).as_deref(), Some("linux-elf-199"));
        assert_eq!(needs_of(&elf(62)[..19]), None);
    }

    #[test]
    fn a_script_needs_its_interpreter() {
        for (line, needs) in [
            ("#!/usr/bin/env python3\nx", Some("python3")),
            ("#! /usr/bin/env -S A=1 node --x\n", Some("node")),
            ("#!/bin/sh", Some("sh")),
            ("#!\n/bin/sh", None),
            ("#!/usr/bin/env\n", None),
            ("print(1)", None),
            ("", None),
        ] {
            assert_eq!(needs_of(line.as_bytes()).as_deref(), needs, "{line}");
        }
        assert_eq!(needs_of_file(Path::new("/not/there")), None);
    }

    #[test]
    fn programs_are_found_and_labels_are_short_words() {
        assert!(has_program("sh") && !has_program("no-such-program"));
        assert!(is_label("g++") && is_label("linux-x86_64"));
        for not in ["", "a b", "a,b", "a:b", "é", &"x".repeat(65)] {
            assert!(!is_label(not), "{not}");
        }
    }
}
