//! The commands of the documents do what they say: blocks of code that are marked are run as they
//! stand.
//!
//! What stands behind the language of a block is not shown to readers. A block ```` ```sh run ```` is
//! run, one with a file's name (```` ```python my_bot.py ````) is that file. A comment that begins with
//! `<!-- run` is run too: it makes what a reader of the page has already, such as a bot. All blocks
//! of a page run one after another in one folder, which shows the repository's folders beside it.
//! Blocks that need a network, a person or much time are not marked.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    thread,
};

use crate::{languages::root, vocabulary::*};

/// A fenced block of code, or a comment with commands, which has no language.
pub(crate) struct Block {
    /// The words behind the fence: the language, and what else is said.
    info: Vec<String>,
    pub(crate) code: String,
    /// The number of its first line.
    line: usize,
}

impl Block {
    pub(crate) fn language(&self) -> &str {
        self.info.first().map_or("", String::as_str)
    }

    /// The words behind the language.
    pub(crate) fn marks(&self) -> &[String] {
        self.info.get(1..).unwrap_or_default()
    }

    fn is_run(&self) -> bool {
        self.marks().iter().any(|mark| mark == "run")
    }

    /// The file that it is.
    fn file(&self) -> Option<&str> {
        let marks = self.marks().iter();
        marks.map(String::as_str).find(|mark| mark.contains('.'))
    }
}

/// A page of the repository.
pub(crate) struct Page {
    name: String,
    pub(crate) blocks: Vec<Block>,
}

impl Page {
    /// Reads a page: its path in the repository.
    pub(crate) fn read(name: &str) -> Self {
        let text = fs::read_to_string(root().join(name)).unwrap();
        let mut blocks = Vec::new();
        let mut lines = text.lines().zip(1..);
        while let Some((line, number)) = lines.next() {
            let begin = line.trim_start();
            let (info, end) = if begin.starts_with("<!-- run") {
                ("- run", "-->")
            } else if let Some(info) = begin.strip_prefix("```") {
                (info, "```")
            } else {
                continue;
            };
            let indent = line.len() - begin.len();
            let inside = lines.by_ref().map(|(line, _)| line);
            let code = inside.take_while(|line| line.trim() != end);
            blocks.push(Block {
                info: info.split_whitespace().map(str::to_owned).collect(),
                code: code
                    .map(|line| format!("{}\n", line.get(indent..).unwrap_or_default()))
                    .collect(),
                line: number,
            });
        }
        let name = name.to_owned();
        Self { name, blocks }
    }

    /// The kits that were built for the tests are needed.
    fn needs_kits(&self) -> bool {
        let mut run = self.blocks.iter().filter(|block| block.is_run());
        run.any(|block| block.code.contains("$ARENA_TEST_LANGUAGES"))
    }

    /// Runs what is marked, in the folder of this arena; gives what it printed.
    pub(crate) fn run(&self, arena: &Arena) -> String {
        for entry in fs::read_dir(root()).unwrap() {
            let (folder, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            if folder.is_dir() && !is_hidden && name != "target" {
                symlink(fs::canonicalize(folder).unwrap(), arena.path("").join(name)).unwrap();
            }
        }
        for block in &self.blocks {
            if let Some(file) = block.file() {
                fs::write(arena.path(file), &block.code).unwrap();
            }
        }
        let programs = Path::new(env!("CARGO_BIN_EXE_arena")).parent().unwrap();
        let mut folders = vec![programs.to_owned()];
        folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        let path = env::join_paths(folders).unwrap();
        let mut printed = String::new();
        for block in self.blocks.iter().filter(|block| block.is_run()) {
            fs::write(arena.path("block.sh"), &block.code).unwrap();
            // Told so, it sees a failure inside a pipe too.
            let output = arena
                .command_of(Path::new("bash"), "-euo pipefail block.sh")
                .env("PATH", &path)
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{}:{} does not run as printed:\n{}{}{}",
                self.name,
                block.line,
                block.code,
                out(&output),
                err(&output)
            );
            printed += &out(&output);
        }
        printed
    }
}

/// Every page with something to run, but the one that has a test of its own.
fn pages() -> Vec<Page> {
    let mut names = vec![PathBuf::from("README.md")];
    for folder in ["docs", "bots", "deploy"] {
        find(Path::new(folder), &mut names);
    }
    let pages = names.iter().map(|name| Page::read(name.to_str().unwrap()));
    pages
        .filter(|page| page.name != crate::engine_author::PAGE)
        .filter(|page| page.blocks.iter().any(Block::is_run))
        .collect()
}

/// All pages below a folder, where no package manager has put its own.
fn find(folder: &Path, names: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = folder.join(entry.unwrap().file_name());
        if root().join(&path).is_dir() {
            if !path.ends_with("node_modules") {
                find(&path, names);
            }
        } else if path.extension().is_some_and(|ending| ending == "md") {
            names.push(path);
        }
    }
}

/// Runs pages all at once: most of their time they wait for limits.
fn run(pages: &[Page]) {
    thread::scope(|scope| {
        for page in pages {
            scope.spawn(|| page.run(&Arena::new().without_walls()));
        }
    });
}

#[test]
fn marked_commands_of_the_pages_run_as_printed() {
    let mut pages = pages();
    pages.retain(|page| !page.needs_kits());
    assert!(pages.len() >= 10);
    run(&pages);
}

#[test]
fn a_command_that_fails_is_named_with_its_page_and_line() {
    let failed = thread::spawn(|| {
        let block = |info: &str, code: &str, line| Block {
            info: info.split_whitespace().map(str::to_owned).collect(),
            code: code.to_owned(),
            line,
        };
        let page = Page {
            name: "page.md".to_owned(),
            blocks: vec![
                block("text my.txt", "a line\n", 3),
                block("sh run", "cat my.txt\n", 6),
                block("sh", "exit 3\n", 9),
                block("- run", "false | cat\n", 12),
            ],
        };
        page.run(&Arena::new())
    });
    let said = failed.join().unwrap_err();
    let said = said.downcast_ref::<String>().unwrap();
    assert!(said.contains("page.md:12 does not run"), "{said}");
}

mod languages {
    #[test]
    fn marked_commands_of_the_kits_pages_run_as_printed() {
        let mut pages = super::pages();
        pages.retain(super::Page::needs_kits);
        assert!(pages.len() >= 2);
        super::run(&pages);
    }
}
