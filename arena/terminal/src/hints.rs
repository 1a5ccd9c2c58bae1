//! The words for what a bot's author may have overlooked.

use std::path::Path;

use arena_check::fix_of_foul;
use referee_bots::{
    Cause, Entry, Hint, MissingModule, ModuleLanguage, ModulePlace, Runs, without_returns,
};
use referee_core::{Foul, PrintedError, split_last_words};
use referee_sandbox::is_of_a_runtime;

/// Advice for the author of a bot with this foul: by its cause where that is known, else what
/// mends most fouls of this kind. None where the foul names the line that is wrong.
pub fn advice(hint: Option<&Hint>, foul: &Foul, entry: &Entry) -> Option<String> {
    match hint {
        Some(hint) => Some(words(hint)),
        None if names_a_line(foul) => None,
        None => Some(fix_of_foul(foul, entry.launcher().interface()).to_owned()),
    }
}

/// True if the foul's words begin or end with a place in its author's own file: `(my_bot.py:5)`.
fn names_a_line(foul: &Foul) -> bool {
    let words = foul.to_string();
    let (seen, printed) = split_last_words(&words);
    let is_place = || {
        let place = seen.strip_suffix(')')?.rsplit_once(" (")?.1;
        let (_, line) = place.rsplit_once(':')?;
        Some(!line.is_empty() && line.chars().all(|c| c.is_ascii_digit()))
    };
    PrintedError::in_lines(&printed).is_some_and(|error| error.place.is_some())
        || is_place() == Some(true)
}

/// Advice, in one line.
pub fn words(hint: &Hint) -> String {
    match hint {
        Hint::NotExecutable { file, interpreter } => {
            let file = file.display();
            let how = match interpreter {
                Some(interpreter) => format!(
                    "use 'exec:{interpreter} {file}', or make it one with a #! line and chmod +x \
                     {file}"
                ),
                None => format!(
                    "make it one with chmod +x {file}, or name the program that runs it, as in \
                     'exec:python3 {file}'"
                ),
            };
            format!("{file} is not an executable program: {how}")
        }
        Hint::NoInterpreter { file, interpreter } => {
            let file = file.display();
            let interpreter = interpreter.unwrap_or("python3");
            format!(
                "{file} may be executed, but does not begin with a #! line that says what runs it: \
                 use 'exec:{interpreter} {file}', or write that line, as in #!/usr/bin/env python3"
            )
        }
        Hint::OtherMachine { file, compiled_for } => format!(
            "{} is compiled for another kind of machine ({compiled_for}): compile it on this one",
            file.display()
        ),
        Hint::CarriageReturn { file } => format!(
            "the first line of {} ends in a carriage return, as files of Windows do, and that is \
             taken for a part of the interpreter's name: {}",
            file.display(),
            without_returns(file)
        ),
        Hint::NotInPath { file } => {
            let file = file.display();
            format!("a program in this folder is started with ./: use exec:./{file}")
        }
        Hint::Heap { program, option } => {
            let program = program.display();
            format!(
                "the heap is a part of what {program} takes: let it have half of the limit at \
                 most, as in 'exec:{program} {option} …'"
            )
        }
        Hint::MissingModule {
            program,
            module,
            place,
        } => missing_module(program, module, place),
        Hint::Cause(cause) => of_cause(cause),
    }
}

fn missing_module(program: &Path, module: &MissingModule, place: &ModulePlace) -> String {
    use ModuleLanguage::{JavaScript, Lua, Perl, Python, Ruby};
    let MissingModule { language, name, .. } = module;
    let runtime = match language {
        Python => "python",
        JavaScript => "node",
        Ruby => "ruby",
        Perl => "perl",
        Lua => "lua",
    };
    let started = program.file_name().unwrap_or_default();
    let ran = match is_of_a_runtime(started) {
        true => program.display().to_string(),
        // A script, or something that starts the runtime.
        false => format!("the {runtime} that runs {}", program.display()),
    };
    let named = |folder: &Path| named_to(*language, folder);
    match place {
        ModulePlace::Nowhere => {
            let install = match language {
                Python => {
                    "install it for that python, or activate the environment that has it, or \
                     name its python, as in 'exec:venv/bin/python FILE'"
                        .to_owned()
                }
                JavaScript => format!("run npm install {name} in the folder of the bot's file"),
                Ruby => format!(
                    "install its gem for that ruby, or put the file beside the bot's and write \
                     require_relative '{name}'"
                ),
                Perl => "install it for that perl, or put it beside the bot's file and write \
                         use FindBin; use lib $FindBin::Bin; above the line that uses it"
                    .to_owned(),
                Lua => format!(
                    "install it for that lua, or put it beside the bot's file and name that \
                     folder, as in {}",
                    named(Path::new("FOLDER"))
                ),
            };
            format!("{ran} finds no {} {name}: {install}", kind(*language))
        }
        ModulePlace::Beside { folder, file } => {
            let file = file.file_name().unwrap_or_default().display();
            let mend = match language {
                JavaScript => format!("name it by its path, as './{file}'"),
                Ruby => format!("write require_relative '{name}'"),
                Perl => "write use FindBin; use lib $FindBin::Bin; above the line that uses it"
                    .to_owned(),
                Python | Lua => format!("name that folder, as in {}", named(folder)),
            };
            format!("{runtime} does not look for {name} in the folder of the bot's file: {mend}")
        }
        ModulePlace::Alone(folder) => format!(
            "{name} is in {}, of which a sandbox shows the bot's file alone, since that folder \
             holds more than one program's files: put the bot into a folder of its own",
            folder.display()
        ),
        ModulePlace::Near { folder, is_shared } => {
            let mend = match language {
                JavaScript => "put it there, and name it by its path from the file that needs \
                               it, as in './FILE'"
                    .to_owned(),
                Ruby => "put it there, and write require_relative".to_owned(),
                _ if *is_shared => "put it there".to_owned(),
                Python | Perl | Lua => format!("name it, as in {}", named(folder)),
            };
            format!(
                "{name} is in {}, not in the folder of the bot's file: {mend}",
                folder.display()
            )
        }
        ModulePlace::Shared { folder, variable } => format!(
            "{name} is in {0}, which {variable} names, but a sandbox does not show {0}, since it \
             holds more than one program's files: put {name} into a folder of its own and name \
             that",
            folder.display()
        ),
        ModulePlace::Editable(folder) if *language == JavaScript => format!(
            "{name} is a link to {0}, which a sandbox does not show: install a copy, with npm \
             install --install-links {0}",
            folder.display()
        ),
        ModulePlace::Editable(folder) => format!(
            "{name} is installed in editable mode (pip install -e) from {}, which a sandbox \
             does not show: name it, as in {}, or install it without -e",
            folder.display(),
            named(folder)
        ),
        ModulePlace::Other(folder) => {
            let mend = match language {
                Python => "install it for this python too, or name one that has it, as in \
                           'exec:venv/bin/python FILE'"
                    .to_owned(),
                JavaScript => {
                    format!("run npm install {name} in the folder of the bot's file, without -g")
                }
                Ruby => "install its gem for this ruby too".to_owned(),
                Perl | Lua => format!("name that folder, as in {}", named(folder)),
            };
            format!(
                "{ran} finds no {} {name}; {} has one, which it does not read: {mend}",
                kind(*language),
                folder.display()
            )
        }
    }
}

/// The word of a language for what is installed.
const fn kind(language: ModuleLanguage) -> &'static str {
    match language {
        ModuleLanguage::JavaScript => "package",
        ModuleLanguage::Ruby => "file",
        _ => "module",
    }
}

/// The start of `arena` with a variable by which a runtime looks for modules in a folder.
fn named_to(language: ModuleLanguage, folder: &Path) -> String {
    let folder = folder.display();
    let variable = match language {
        ModuleLanguage::Python => format!("PYTHONPATH={folder}"),
        ModuleLanguage::JavaScript => format!("NODE_PATH={folder}"),
        ModuleLanguage::Ruby => format!("RUBYLIB={folder}"),
        ModuleLanguage::Perl => format!("PERL5LIB={folder}"),
        // There LuaRocks puts compiled modules.
        ModuleLanguage::Lua if folder.to_string().contains("/lib/lua/") => {
            format!("LUA_CPATH='{folder}/?.so;;'")
        }
        ModuleLanguage::Lua => format!("LUA_PATH='{folder}/?.lua;{folder}/?/init.lua;;'"),
    };
    format!("{variable} arena …")
}

fn of_cause(cause: &Cause) -> String {
    match cause {
        Cause::StandardInput => {
            "a bot is asked over gRPC; its standard input is empty, and what it \
             prints is only its log. Write it with a kit (docs/writing-a-bot.md): an object whose \
             method is given the question and returns the move"
                .to_owned()
        }
        Cause::ReadOnly => {
            "in the sandbox a bot can write only to /tmp, which is its own and gone \
             with it: write there, or print, which goes to its log; --sandbox off lets it write \
             where you can"
                .to_owned()
        }
        Cause::NoNetwork => "in the sandbox a bot has no network, not even that of this machine: \
             put what it needs into files beside its program; --sandbox off lets it use the network"
            .to_owned(),
        Cause::Hidden { file } => format!(
            "{} is there, and hidden in the sandbox: a bot sees the files that its command names \
             and the folders that they lie in; put it there, or name it in the command",
            file.display()
        ),
        Cause::NoFile { file, directory } => {
            let file = file.display();
            let folder = match directory.as_os_str().is_empty() {
                true => "the folder that arena is run in".to_owned(),
                false => directory.display().to_string(),
            };
            format!(
                "there is no {file} in {folder}, where the bot runs; name a file that lies beside \
                 the program by the program's own path, in Python as \
                 pathlib.Path(__file__).with_name(\"{file}\")"
            )
        }
        Cause::NoStartArgument => "the kit makes the object with the start of the game: write \
             def __init__(self, start):"
            .to_owned(),
        Cause::NoMethod { methods } => format!(
            "the class of a bot has a method for each question of its game, with exactly these \
             names: write {methods} (bots/python/README.md)"
        ),
        Cause::Signal(Runs::Strategy) => "call getPoint from a main of your own, in the position \
             of the record, and let the sanitizers name the line: g++ -g \
             -fsanitize=address,undefined -o try main.cpp Strategy.cpp Judge.cpp && ./try \
             (docs/bring-your-bot.md has that main)"
            .to_owned(),
        Cause::Signal(Runs::Compiled) => "compile and link it with -g \
             -fsanitize=address,undefined: it then prints the line before it ends"
            .to_owned(),
        Cause::Signal(Runs::Python) => "a library crashed: python3 -X faulthandler FILE prints \
             the line of yours that called it"
            .to_owned(),
        Cause::Signal(Runs::Other) => {
            "its process was killed by what it did itself: compiled code in it has used memory \
             that is not its own, or divided by 0"
                .to_owned()
        }
        Cause::SharedObject { file } => format!(
            "{0} is a shared object and not a program: write strategy:{0}",
            file.display()
        ),
        Cause::UndefinedSymbol { symbol } => format!(
            "{symbol} is used, and defined in no file that was compiled: name every .cpp in the \
             command that compiles it, and add -Wl,-z,defs, which finds this at once"
        ),
        Cause::OtherGame { game } => format!(
            "name the game that it plays ({game}), or let it play this one too: a kit's Bot has a \
             method for each game, as in .othello(Mine)"
        ),
        Cause::UnknownIssuer => "no authority that is trusted here has signed the bot's \
             certificate: --bots-ca FILE names the one that has"
            .to_owned(),
        Cause::NotAttending => {
            "start the bot with BOT_JOIN=https://HOST:PORT of `arena serve --lobby` \
             and BOT_TOKEN_FILE=FILE; `arena lobby` shows who attends"
                .to_owned()
        }
        Cause::Tilde { word } => format!(
            "{word} is taken as it is: a shell replaces ~ only where a word begins, outside of \
             quotation marks; write $HOME, in double ones"
        ),
    }
}
