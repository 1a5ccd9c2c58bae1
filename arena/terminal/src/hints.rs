//! The words for what a bot's author may have overlooked.

use std::path::Path;

use referee_bots::{Hint, ModulePlace, without_returns};

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
        } => missing_module(program, module, place.as_ref()),
    }
}

fn missing_module(program: &Path, module: &str, place: Option<&ModulePlace>) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let python = match name.starts_with("python") || name.starts_with("pypy") {
        true => program.display().to_string(),
        // A script, or something that starts Python.
        false => format!("the python that runs {}", program.display()),
    };
    let named = |folder: &Path| format!("PYTHONPATH={} arena …", folder.display());
    match place {
        None => format!(
            "{python} has no module {module}: install it for that python, or name the python that \
             has it, as in 'exec:venv/bin/python FILE'"
        ),
        Some(ModulePlace::Near {
            folder,
            is_shared: false,
        }) => format!(
            "{module} is in {}, not in the folder of the bot's file: name it, as in {}",
            folder.display(),
            named(folder)
        ),
        Some(ModulePlace::Near {
            folder,
            is_shared: true,
        }) => format!(
            "{module} is in {}, not in the folder of the bot's file: put it there",
            folder.display()
        ),
        Some(ModulePlace::Shared(folder)) => format!(
            "{module} is in {0}, which PYTHONPATH names, but a sandbox does not show {0}, since it \
             holds more than one program's files: put {module} into a folder of its own and name \
             that",
            folder.display()
        ),
        Some(ModulePlace::Editable(folder)) => format!(
            "{module} is installed in editable mode (pip install -e) from {}, which a sandbox \
             does not show: name it, as in {}, or install it without -e",
            folder.display(),
            named(folder)
        ),
        Some(ModulePlace::Other(folder)) => format!(
            "{python} has no module {module}; {} has one, which it does not read: install it for this \
             python too, or name one that has it, as in 'exec:venv/bin/python FILE'",
            folder.display()
        ),
    }
}
