//! One build: from sources to a packed bot.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use referee_bots::{
    CommandLine, Launcher as _, PackedSpec,
    archive::{LONGEST_PATH, PackError, Packed, pack_folder},
    machine_label, needs_of_file,
};
use referee_sandbox::{Program, ProgramEnd, ResourceLimits, Sandbox, Wall};
use tempfile::TempDir;

use crate::{
    fault::{BuildError, BuildFault, FaultKind},
    language::Language,
    limits::{BuildLimits, bytes},
    recipe::{Recipe, Start},
    run::{Ran, RunEnd, RunLimits, run, shell},
    sources::{Sources, read_tar},
    toolchain::Toolchain,
    tree::{Tree, TreeLimits},
};

/// What is built where there is room, but for what a tar file says of each file.
const OVERHEAD: u64 = 2048;

/// The sources, as the build finds them beside its script: it unpacks them itself.
const SOURCES: &str = "sources.tar";

/// Codes with which the script says what a build has run into.
const FAILED: i32 = 1;
const NOT_UNPACKED: i32 = 120;
const FILES_FULL: i32 = 121;
const BYTES_FULL: i32 = 122;
const UNREAD: i32 = 123;

/// A bot that was built.
#[derive(Clone)]
pub struct Built {
    /// The way in which it was built.
    pub language: Language,
    /// Its files, as an archive with a name that follows from its content.
    pub packed: Packed,
    /// The SPEC that starts it.
    pub spec: PackedSpec,
    /// What the build has said: printable lines, within [`BuildLimits::log`].
    pub log: String,
}

/// Builds the sources of an entry for a game, which is called as in messages (`connect_four`).
/// Blocks until the build is over, or, within some tenths of a second, until `cancel` is true.
///
/// It runs behind the walls that `sandbox` has; [`Sandbox::walls`] says which this machine lacks. The
/// limits of memory, processes, files and bytes hold by those walls.
///
/// # Errors
///
/// [`BuildError`].
pub fn build(
    sources: &Sources,
    game: &str,
    toolchain: &Toolchain,
    sandbox: &Sandbox,
    limits: &BuildLimits,
    cancel: &AtomicBool,
) -> Result<Built, BuildError> {
    let recipe = Recipe::of(sources, game, toolchain)?;
    toolchain.require(&["sh", "tar", "cp", "find", "du"])?;
    toolchain.require(&recipe.tools)?;

    let outside = TempDir::with_prefix("arena-build-")?;
    fs::write(outside.path().join(SOURCES), sources.0.tar()?)?;
    let script = outside.path().join("build.sh");
    fs::write(&script, script_of(&recipe, sandbox, limits))?;

    // Where nothing is private, it is at least a folder of its own.
    let home = sandbox.is_off().then(TempDir::new).transpose()?;
    let program = program(
        &recipe,
        toolchain,
        script,
        outside.path(),
        home.as_ref(),
        limits,
    );
    let within = RunLimits {
        time: limits.time,
        output: limits.output + OVERHEAD * u64::from(limits.output_files),
        log: limits.log,
    };
    let ran = run(sandbox, &program, within, cancel)?;
    check_end(&ran, limits)?;

    let mut tree = Tree::new(TreeLimits {
        bytes: limits.output,
        files: limits.output_files,
        depth: LONGEST_PATH,
        folds_case: false,
        what: "the bot that was built",
        too_large: FaultKind::OutputLimit,
    });
    let of_build = |fault: BuildFault| fault.with_log(ran.log.clone());
    read_tar(&*ran.output, within.output, &mut tree).map_err(of_build)?;
    let bot = TempDir::with_prefix("arena-built-")?;
    tree.write(bot.path())?;
    if let Some(missing) = missing(&recipe.start, &tree) {
        let (kind, why) = shortage(&ran, limits).unwrap_or_else(|| {
            let why = format!("the build was successful, but has made no {missing}");
            (FaultKind::NoProgram, why)
        });
        return Err(of_build(BuildFault::new(kind, why)).into());
    }
    let packed = pack_folder(bot.path()).map_err(|error| match error {
        PackError::TooLarge { why, .. } => {
            let why = format!("the bot that was built: {why}");
            BuildError::Fault(of_build(BuildFault::new(FaultKind::OutputLimit, why)))
        }
        PackError::Refused { .. } => BuildError::Ours(error.to_string()),
    })?;
    let spec = spec(&recipe.start, &packed, bot.path()).map_err(of_build)?;
    check_needs(&spec, toolchain).map_err(of_build)?;
    Ok(Built {
        language: recipe.language,
        packed,
        spec,
        log: ran.log,
    })
}

/// The program that builds, and what it sees and may take.
fn program(
    recipe: &Recipe,
    toolchain: &Toolchain,
    script: PathBuf,
    outside: &Path,
    home: Option<&TempDir>,
    limits: &BuildLimits,
) -> Program {
    let mut environment = vec![
        ("PATH".to_owned(), toolchain.search_path()),
        ("LC_ALL".to_owned(), "C.UTF-8".to_owned()),
        ("SOURCE_DATE_EPOCH".to_owned(), "0".to_owned()),
    ];
    for (name, value) in &recipe.environment {
        environment.push(((*name).to_owned(), value.clone()));
    }
    if let Some(home) = home {
        for name in ["HOME", "TMPDIR"] {
            environment.push((name.to_owned(), home.path().display().to_string()));
        }
    }
    let environment = environment.into_iter();
    Program {
        readable: [
            vec![outside.to_owned()],
            recipe.readable.clone(),
            toolchain.readable.clone(),
        ]
        .concat(),
        environment: environment
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        limits: ResourceLimits {
            memory: Some(limits.memory),
            processes: Some(limits.processes),
            gives_way: true,
            disk: limits.output,
            files: limits.output_files.into(),
            file_size: limits.output,
            ..ResourceLimits::default()
        },
        ..shell(script, outside.to_owned())
    }
}

/// The script of a build. What it says goes to the log; its standard output is the bot's folder, as
/// a tar file.
fn script_of(recipe: &Recipe, sandbox: &Sandbox, limits: &BuildLimits) -> String {
    let is_private = sandbox.walls().hold(Wall::Files) && sandbox.walls().hold(Wall::Disk);
    let places = match is_private {
        true => "\"$HOME\" /var/tmp /dev/shm",
        false => "\"$HOME\"",
    };
    // As good as full: nothing more could be written.
    let most_files = u64::from(limits.output_files) * 15 / 16;
    let most_kib = (limits.output >> 10) * 15 / 16;
    let steps = &recipe.script;
    format!(
        "exec 3>&1 1>&2\n\
         umask 022\n\
         mkdir \"$HOME/entry\" && tar -x -m -f {SOURCES} -C \"$HOME/entry\" || exit {NOT_UNPACKED}\n\
         (\nexec 3>&-\nset -e\ncd \"$HOME/entry\"\n{steps}\n)\n\
         failed=$?\n\
         for place in {places}; do\n\
         if [ \"$(find \"$place\" -xdev 2> /dev/null | wc -l)\" -ge {most_files} ]; then exit {FILES_FULL}; fi\n\
         if [ \"$(du -skx \"$place\" 2> /dev/null | cut -f 1)\" -ge {most_kib} ]; then exit {BYTES_FULL}; fi\n\
         done\n\
         if [ $failed -ne 0 ]; then exit {FAILED}; fi\n\
         tar -c -f - --hard-dereference --sort=name -C \"$HOME/entry\" . >&3 || exit {UNREAD}\n"
    )
}

/// Names the fault of a build that has not ended well.
fn check_end(ran: &Ran, limits: &BuildLimits) -> Result<(), BuildError> {
    use FaultKind as Kind;
    use ProgramEnd::{Exited, Lost, NoProgram, NotStarted, Signaled};
    if ran.end == RunEnd::Ended(Exited(0)) {
        return Ok(());
    }
    if let Some((kind, why)) = shortage(ran, limits) {
        return Err(BuildFault::new(kind, why).with_log(ran.log.clone()).into());
    }
    if let RunEnd::Ended(NotStarted(why) | Lost(why) | NoProgram(why)) = &ran.end {
        return Err(BuildError::Ours(format!("the build was not run: {why}")));
    }
    if ran.end == RunEnd::Ended(Exited(NOT_UNPACKED)) {
        let why = format!(
            "the sources could not be unpacked for the build: {}",
            ran.log
        );
        return Err(BuildError::Ours(why));
    }
    let said = |words: &str| ran.log.contains(words);
    let no_room = said("No space left on device") || said("File size limit exceeded");
    let (kind, why) = match ran.end {
        RunEnd::TooLong => {
            let why = format!("the build takes longer than {:?}", limits.time);
            (Kind::TimeLimit, why)
        }
        RunEnd::Ended(Exited(FILES_FULL)) => {
            let most = limits.output_files;
            let why = format!("the build makes more than {most} files and folders");
            (Kind::TooManyFiles, why)
        }
        RunEnd::Ended(Exited(UNREAD)) => {
            let why = "a file that was built can't be read: see the log".to_owned();
            (Kind::NotAFile, why)
        }
        RunEnd::Ended(Exited(code)) if code != BYTES_FULL && !no_room => {
            let why = format!("it does not compile{}", last_error(&ran.log));
            (Kind::CompileError, why)
        }
        RunEnd::Ended(Signaled(signal)) if !no_room => {
            let why = format!(
                "signal {signal} has ended the build{}",
                last_error(&ran.log)
            );
            (Kind::CompileError, why)
        }
        RunEnd::TooMuch | RunEnd::Ended(_) => {
            let why = format!("the build writes more than {}", bytes(limits.output));
            (Kind::OutputLimit, why)
        }
    };
    Err(BuildFault::new(kind, why).with_log(ran.log.clone()).into())
}

/// The resource that a build has had too little of, in the words of a fault.
fn shortage(ran: &Ran, limits: &BuildLimits) -> Option<(FaultKind, String)> {
    if ran.killed_for_memory > 0 {
        let most = bytes(limits.memory);
        let why = format!(
            "the build needs more than {most} of memory, with the files that it writes: the \
             system has killed a process of it"
        );
        return Some((FaultKind::MemoryLimit, why));
    }
    // Without a cgroup nobody counts, and programs say it in these words.
    let is_refused =
        ran.refused_processes > 0 || ran.log.contains("Resource temporarily unavailable");
    is_refused.then(|| {
        let most = limits.processes;
        let why = format!("the build starts more than {most} processes and threads at one time");
        (FaultKind::ProcessLimit, why)
    })
}

/// What a bot lacks to be started.
fn missing<'s>(start: &'s Start, tree: &Tree) -> Option<&'s str> {
    match start.file() {
        Some(file) => (!tree.files().contains_key(file)).then_some(file),
        None => tree.files().is_empty().then_some("file"),
    }
}

/// The first line of a log that says what is wrong, to be told with the fault.
fn last_error(log: &str) -> String {
    const LONGEST: usize = 200;
    let mut lines = log.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = lines
        .clone()
        .find(|line| line.contains("error") || line.contains("Error"));
    match telling.or_else(|| lines.next_back()) {
        Some(line) => format!(": {}", referee_core::shorten(line, LONGEST)),
        None => String::new(),
    }
}

/// Checks that a bot can be started on machines as this one: it would wait for another for ever.
fn check_needs(spec: &PackedSpec, toolchain: &Toolchain) -> Result<(), BuildFault> {
    let is_there = |label: &str| label == machine_label() || toolchain.has(label);
    match spec.needs.iter().find(|label| !is_there(label)) {
        Some(label) => {
            let why = format!("the bot needs {label} to be started, and this arena has none");
            Err(BuildFault::new(FaultKind::NoProgram, why))
        }
        None => Ok(()),
    }
}

/// The SPEC of a bot that lies in a folder.
fn spec(start: &Start, packed: &Packed, folder: &Path) -> Result<PackedSpec, BuildFault> {
    let (needs, inner) = match start {
        Start::Strategy(file) => {
            let needs = needs_of_file(&folder.join(file));
            (needs.into_iter().collect(), format!("strategy:{file}"))
        }
        Start::Exec(words) => command(words, "exec", folder)?,
        Start::Stdio(words) => command(words, "stdio", folder)?,
    };
    Ok(PackedSpec::new(packed.hash, needs, inner))
}

fn command(
    words: &[String],
    prefix: &str,
    folder: &Path,
) -> Result<(Vec<String>, String), BuildFault> {
    let bad = |why: String| BuildFault::new(FaultKind::BadSettings, why);
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| bad("run: expected a command".to_owned()))?;
    let line = CommandLine::new(program.clone(), arguments.to_vec());
    line.check_packed().map_err(bad)?;
    let joined = shlex::try_join(words.iter().map(String::as_str))
        .map_err(|error| bad(format!("run: {error}")))?;
    Ok((line.needs(folder), format!("{prefix}:{joined}")))
}
